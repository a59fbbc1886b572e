import { createInterface } from 'node:readline';
import { sessionsFolder } from '../store/agent-dir.ts';
import { SessionList } from '../store/sessions/list-sessions.ts';
import { PiFailure, UsageError } from './flags.ts';
import type { Places } from './session-named.ts';
import { listTable } from './sessions/table.ts';

/** How many sessions are offered. */
const MAX_OFFERED = 20;

/** Asks, on the terminal, which session of this folder to go on with. Undefined: there is none. */
export async function askWhichSession({ cwd, root, sessionDirectory, isChosen }: Places): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError('--resume asks on a terminal; there is --continue and --session <id>');
  }
  const list = new SessionList(isChosen ? sessionDirectory : sessionsFolder(root));
  const { sessions } = await list.list({ also: sessionDirectory, cwd, limit: MAX_OFFERED });
  if (sessions.length === 0) return undefined;
  const [titles = '', ...rows] = listTable(sessions, { withFolder: false }).trimEnd().split('\n');
  const numbered = rows.map((row, index) => `${`${index + 1}`.padStart(3)}  ${row}\n`);
  process.stderr.write([`     ${titles}\n`, ...numbered].join(''));
  const prompt = 'Which one (its number; Enter: the first)? ';
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt });
  lines.prompt();
  for await (const line of lines) {
    const chosen = sessions[line.trim() === '' ? 0 : Number(line) - 1];
    if (chosen) return chosen.path;
    lines.prompt();
  }
  throw new PiFailure('tau: no session was chosen');
}
