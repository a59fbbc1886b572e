import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { oneLine } from '../../../words.ts';
import { dayGroup } from './relative-time.ts';

/** What sessions are put together by. */
export type Grouping = 'day' | 'folder';

/** Sessions that belong together. */
export interface SessionGroup {
  readonly name: string;
  /** More of what they have in common. */
  readonly detail?: string | undefined;
  readonly sessions: readonly SessionSummary[];
}

/** What a session is called: its name, or what was said in it first. */
export const sessionTitle = ({ name, title, firstMessage }: SessionSummary): string =>
  oneLine(name || title || firstMessage, 100) || 'Session';

/** The last part of a path, or so many of them. */
export const folderName = (path: string, parts = 1): string =>
  path.split(/[/\\]/).filter(Boolean).slice(-parts).join('/') || path;

/** Those in which every word of a query stands somewhere: in the name, in the first words or in the folder. */
export function filterByWords(sessions: readonly SessionSummary[], query: string): readonly SessionSummary[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sessions;
  return sessions.filter(({ name = '', title = '', firstMessage, cwd }) => {
    const text = `${name}\n${title}\n${firstMessage}\n${cwd}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Groups in the order of their newest sessions. */
export function groupSessions(sessions: readonly SessionSummary[], by: Grouping, now: number): SessionGroup[] {
  const groups = new Map<string, SessionSummary[]>();
  for (const session of sessions) {
    const key = by === 'folder' ? session.cwd : dayGroup(Date.parse(session.lastModified), now);
    const group = groups.get(key);
    if (group) group.push(session);
    else groups.set(key, [session]);
  }
  return [...groups].map(([key, members]) =>
    by === 'folder' ? { name: folderName(key), detail: key, sessions: members } : { name: key, sessions: members },
  );
}

/** The folders in which sessions were held, the latest first. */
export const recentFolders = (sessions: readonly SessionSummary[], limit: number): readonly string[] =>
  [...new Set(sessions.map(({ cwd }) => cwd))].slice(0, limit);
