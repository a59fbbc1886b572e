import { connectRemote } from '../client/remote.node.ts';
import type { RemoteSession } from '../client/remote-session.ts';
import { messageOf } from '../protocol/errors.ts';
import { onExitSignal } from '../system/exit-signals.ts';
import { isAddress, type ServerAddress, serverAddress } from './attach/server-address.ts';
import { type Wanted, wantedSession } from './attach/wanted-session.ts';
import { SHOWN } from './chat/dialogs.ts';
import { join } from './chat/join.ts';
import { recite } from './chat/recite.ts';
import { type Arguments, PiFailure, UsageError } from './flags.ts';
import { hasTerminal } from './has-terminal.ts';
import { stdoutReader } from './stdout-reader.ts';

/** Messages of a conversation that are shown to whoever comes. */
const TAIL = 20;

/** The chat on a session of a server: `tau attach [url] [session|new]`. Leaving it ends nothing. */
export async function attach(args: Arguments): Promise<number> {
  const words = args.positionals.slice(1);
  const address = isAddress(words[0]) ? words.shift() : undefined;
  const [word, extra] = words;
  if (extra !== undefined) throw new UsageError(`tau attach takes one session, not ${JSON.stringify(extra)} too`);
  const server = serverAddress(args, address);
  try {
    return await converse(server, await wantedSession(args, word, server));
  } catch (error) {
    if (error instanceof UsageError || error instanceof PiFailure) throw error;
    return complain(messageOf(error));
  }
}

async function converse(server: ServerAddress, wanted: Wanted): Promise<number> {
  const isTalking = hasTerminal();
  const session = connectRemote(server.url.href, {
    ...wanted,
    token: server.token,
    tail: TAIL,
    ui: isTalking ? SHOWN : [],
    whenLost: isTalking ? 'wait' : 'close',
  });
  onExitSignal(async () => session.close());
  const reader = stdoutReader();
  const code = await Promise.race([isTalking ? talked(session) : recited(session), reader.left.then(() => 0)]);
  session.close();
  await reader.flushed();
  return code;
}

async function talked(session: RemoteSession): Promise<number> {
  const reason = await join(session);
  if (reason !== undefined) return complain(reason);
  const unsent = session.outbox.length;
  return unsent === 0 ? 0 : complain(`What you sent last did not arrive (${unsent})`);
}

const recited = async (session: RemoteSession) => ((await recite(session)) ? 0 : 1);

function complain(reason: string): number {
  process.stderr.write(`tau: ${reason}\n`);
  return 1;
}
