import { homedir } from 'node:os';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import { textTable } from '../text-table.ts';

// Ids are cut to the shortest unique length, but not below this.
const SHORTEST_ID = 8;

const ONE_MINUTE_MS = 60_000;
const ONE_HOUR_MS = 60 * ONE_MINUTE_MS;
const ONE_DAY_MS = 24 * ONE_HOUR_MS;

// From this age on, a date is shown.
const OLD_DAYS = 30;

/** Formats sessions as a table. */
export function sessionTable(sessions: readonly SessionSummary[], { withFolder }: { withFolder: boolean }): string {
  const length = idLength(sessions.map(({ id }) => id));
  const rows = sessions.map(({ id, lastModified, messageCount, cwd, title }) => [
    id.slice(0, length),
    ageOf(lastModified),
    `${messageCount}`,
    ...(withFolder ? [folderName(cwd)] : []),
    title ?? '',
  ]);
  return textTable(['ID', 'AGE', 'MESSAGES', ...(withFolder ? ['FOLDER'] : []), 'TITLE'], rows);
}

/** The age of a time, or its date if that is long ago. */
export function ageOf(time: string): string {
  const age = Math.max(0, Date.now() - Date.parse(time));
  if (age < ONE_MINUTE_MS) return 'now';
  if (age < ONE_HOUR_MS) return `${Math.floor(age / ONE_MINUTE_MS)}m`;
  if (age < ONE_DAY_MS) return `${Math.floor(age / ONE_HOUR_MS)}h`;
  return age < OLD_DAYS * ONE_DAY_MS ? `${Math.floor(age / ONE_DAY_MS)}d` : time.slice(0, 10);
}

function idLength(ids: readonly string[]): number {
  const longest = Math.max(0, ...ids.map((id) => id.length));
  for (let length = SHORTEST_ID; length < longest; length++) {
    if (new Set(ids.map((id) => id.slice(0, length))).size === new Set(ids).size) return length;
  }
  return longest;
}

function folderName(cwd: string): string {
  const home = homedir();
  return cwd === home || cwd.startsWith(`${home}/`) ? `~${cwd.slice(home.length)}` : cwd;
}
