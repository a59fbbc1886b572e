import { sessionsFolder } from '../store/agent-dir.ts';
import { SessionList } from '../store/sessions/listing/list-sessions.ts';
import { chooseSession } from './choose-session.ts';
import { UsageError } from './flags.ts';
import type { SessionLocations } from './session-argument.ts';

// The number of sessions to choose from.
const MAX_RESUME_CHOICES = 20;

/** Lets the user choose a session of this folder; undefined if there is none. */
export async function chooseSessionToResume({ cwd, root, sessionDirectory, isCustomDir }: SessionLocations): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError('--resume asks on a terminal; there is --continue and --session <id>');
  }
  const list = new SessionList(isCustomDir ? sessionDirectory : sessionsFolder(root));
  const { sessions } = await list.list({ extraFolder: sessionDirectory, cwd, limit: MAX_RESUME_CHOICES });
  return sessions.length === 0 ? undefined : (await chooseSession(sessions, { withFolder: false })).path;
}
