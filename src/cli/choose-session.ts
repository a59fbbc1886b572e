import { createInterface } from 'node:readline';
import type { SessionSummary } from '../protocol/generated/vocabulary.ts';
import { PiError } from './flags.ts';
import { sessionTable } from './sessions/table.ts';

/** Lets the user choose one of these sessions on the terminal. */
export async function chooseSession(
  sessions: readonly SessionSummary[],
  { withFolder }: { withFolder: boolean },
): Promise<SessionSummary> {
  const [titles = '', ...rows] = sessionTable(sessions, { withFolder }).trimEnd().split('\n');
  const numbered = rows.map((row, index) => `${`${index + 1}`.padStart(3)}  ${row}\n`);
  process.stderr.write([`     ${titles}\n`, ...numbered].join(''));
  const prompt = 'Which one (its number; Enter: the first)? ';
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt });
  lines.prompt();
  for await (const line of lines) {
    const chosen = sessions[line.trim() === '' ? 0 : Number(line) - 1];
    if (chosen) return chosen;
    lines.prompt();
  }
  throw new PiError('tau: no session was chosen');
}
