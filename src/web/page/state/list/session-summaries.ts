import type { ConversationView } from '../../../../client/view/view.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { firstLine } from '../../../../protocol/matching/first-line.ts';
import { oneLine } from '../../../format.ts';
import { asText, contentText } from '../../../untyped.ts';
import { dayGroup } from './relative-time.ts';

/** The property that sessions are grouped by. */
export type Grouping = 'day' | 'folder';

/** Sessions of one group. */
export interface SessionGroup {
  readonly name: string;
  /** The full path of a folder group. */
  readonly detail?: string | undefined;
  readonly sessions: readonly SessionSummary[];
}

/** Returns the title of a session in the list; a copy may have another one than its name, which is that of its origin. */
export const sessionTitle = ({ name, title, firstMessage }: SessionSummary): string =>
  oneLine(title || name || firstMessage, 100) || 'Session';

/** Returns the last `parts` parts of a path. */
export const folderName = (path: string, parts = 1): string =>
  path.split(/[/\\]/).filter(Boolean).slice(-parts).join('/') || path;

/** Returns the sessions that contain every word of the query in name, first message or folder. */
export function filterByWords(sessions: readonly SessionSummary[], query: string): readonly SessionSummary[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return sessions;
  return sessions.filter(({ name = '', title = '', firstMessage, cwd }) => {
    const text = `${name}\n${title}\n${firstMessage}\n${cwd}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Groups sessions; groups come in the order of their newest session. */
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

/** Returns the folders of the sessions, latest first. */
export const recentFolders = (sessions: readonly SessionSummary[], limit: number): readonly string[] =>
  [...new Set(sessions.map(({ cwd }) => cwd))].slice(0, limit);

interface TitleSource extends Pick<ConversationView, 'messages'> {
  readonly name: string | undefined;
  // Whether `messages` is the whole history.
  readonly isWhole: boolean;
  // The list entry, for sessions whose first messages are not loaded.
  readonly summary: SessionSummary | undefined;
  readonly isNew: boolean;
}

/** Returns the title of the open session: its name, or its first prompt or shell command; of a copy, as in the list. */
export function titleOf({ name, messages, isWhole, summary, isNew }: TitleSource): string {
  // The list may not have a new name yet.
  const isListedCopy = summary?.parentSession !== undefined && summary.name === name;
  const text =
    (isListedCopy && summary.title) ||
    name ||
    (isWhole && firstInput(messages)) ||
    summary?.name ||
    summary?.title ||
    summary?.firstMessage ||
    '';
  return oneLine(firstLine(text) || text, 100) || (isNew && messages.length === 0 ? 'New session' : 'Session');
}

function firstInput(messages: ConversationView['messages']): string {
  const prompt = messages.find(({ role }) => role === 'user');
  if (prompt?.role === 'user') return contentText(prompt.content);
  const shellRun = messages.find(({ role }) => role === 'bashExecution');
  return shellRun?.role === 'bashExecution' ? `!${asText(shellRun.command)}` : '';
}
