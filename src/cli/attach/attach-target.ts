import { resolve } from 'node:path';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import { chooseSession } from '../sessions/choose-session.ts';
import { sessionPathIn, singleMatch } from '../sessions/session-argument.ts';
import { hasTerminal } from '../stdio.ts';
import { findServer, requestServer } from './request-server.ts';
import { isLocal, type ServerAddress } from './server-address.ts';

// Sessions to choose from, and sessions searched for an id prefix.
const MAX_ATTACH_CHOICES = 20;
const MAX_SEARCHED = 1000;

/** The session that `tau attach` connects to, or the folder of a new one, on a server that responds. */
export interface AttachTarget {
  readonly server: ServerAddress;
  readonly session?: string | undefined;
  readonly cwd?: string | undefined;
}

/** Resolves the session argument of `tau attach`; without one, lets the user choose. */
export async function attachTarget(
  args: CliArguments,
  word: string | undefined,
  address: ServerAddress,
): Promise<AttachTarget> {
  if (word !== undefined && args.continue)
    throw new UsageError('--continue opens the latest session: give no session with it');
  if (args.cwd !== undefined && (args.continue || (word !== undefined && word !== 'new'))) {
    throw new UsageError('--cwd needs a new session: tau attach new');
  }
  // Fails at once if the server is unreachable or rejects the token; a session connection would retry.
  const server = await findServer(address);
  if (word === 'new' || args.cwd !== undefined) {
    return { server, cwd: args.cwd !== undefined && isLocal(server) ? resolve(args.cwd) : args.cwd };
  }
  if (word !== undefined) return { server, session: await sessionNamed(word, server) };
  return { server, session: (args.continue ? await latestSession(server) : await chosenSession(server))?.id };
}

/** A path is resolved for a server on this machine, and sent unchanged to any other. */
async function sessionNamed(word: string, server: ServerAddress): Promise<string> {
  const path = sessionPathIn(word, { cwd: process.cwd() });
  if (path !== undefined) return isLocal(server) ? path : word;
  const ids = (await listSessions(server, MAX_SEARCHED)).map(({ id }) => id).filter((id) => id.startsWith(word));
  // The list lacks sessions without messages.
  return ids.length === 0 || ids.includes(word) ? word : singleMatch(ids, word);
}

const latestSession = async (server: ServerAddress) => (await listSessions(server, 1))[0];

/** Undefined for a new session. */
async function chosenSession(server: ServerAddress): Promise<SessionSummary | undefined> {
  if (!hasTerminal()) {
    throw new UsageError(
      'tau attach without a session needs a terminal; use tau attach <id>, tau attach new or --continue',
    );
  }
  const sessions = await listSessions(server, MAX_ATTACH_CHOICES);
  return sessions.length === 0 ? undefined : chooseSession(sessions, { withFolder: true, offersNew: true });
}

async function listSessions(server: ServerAddress, limit: number): Promise<readonly SessionSummary[]> {
  const { sessions } = (await requestServer(server, `api/sessions?limit=${limit}`)) as { sessions?: SessionSummary[] };
  if (!Array.isArray(sessions)) throw new Error('The server returned no list of sessions');
  return sessions;
}
