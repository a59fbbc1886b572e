import { createInterface } from 'node:readline';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import { sessionsFolder } from '../../store/agent-dir.ts';
import { SessionList } from '../../store/sessions/listing/list-sessions.ts';
import { PiError, UsageError } from '../flags/flags.ts';
import type { SessionLocations } from './session-argument.ts';
import { sessionTable } from './table.ts';

interface ChoiceOptions {
  readonly withFolder: boolean;
  /** Whether the user may choose a new session. */
  readonly offersNew: boolean;
}

/** Lets the user choose one of these sessions on the terminal; undefined for a new one. */
export async function chooseSession(
  sessions: readonly SessionSummary[],
  { withFolder, offersNew }: ChoiceOptions,
): Promise<SessionSummary | undefined> {
  const [titles = '', ...rows] = sessionTable(sessions, { withFolder }).trimEnd().split('\n');
  const numbered = rows.map((row, index) => `${`${index + 1}`.padStart(3)}  ${row}\n`);
  process.stderr.write([`     ${titles}\n`, ...numbered].join(''));
  const prompt = `Which one (its number; Enter: the first${offersNew ? '; new: a new session' : ''})? `;
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt });
  lines.prompt();
  for await (const line of lines) {
    if (offersNew && line.trim().toLowerCase() === 'new') return undefined;
    const chosen = sessions[line.trim() === '' ? 0 : Number(line) - 1];
    if (chosen) return chosen;
    lines.prompt();
  }
  throw new PiError('tau: no session was chosen');
}

// The number of sessions to choose from.
const MAX_RESUME_CHOICES = 20;

/** Lets the user choose a session of this folder; undefined if there is none. */
export async function chooseSessionToResume({
  cwd,
  root,
  sessionDirectory,
  isCustomDir,
}: SessionLocations): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new UsageError('--resume needs a terminal; use --continue or --session <id>');
  }
  const list = new SessionList(isCustomDir ? sessionDirectory : sessionsFolder(root));
  const { sessions } = await list.list({ extraFolder: sessionDirectory, cwd, limit: MAX_RESUME_CHOICES });
  if (sessions.length === 0) return undefined;
  return (await chooseSession(sessions, { withFolder: false, offersNew: false }))?.path;
}
