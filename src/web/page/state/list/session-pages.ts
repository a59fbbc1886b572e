import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';

/** The end of a page: the cursor of the next one and the last session before it. */
export interface PageEnd {
  readonly cursor: string;
  readonly last: SessionSummary;
}

/** Consecutive sessions of the server, newest first. */
export interface SessionListPage {
  /** The end of the previous page; undefined for the first. */
  readonly after?: PageEnd | undefined;
  readonly sessions: readonly SessionSummary[];
  /** Undefined when there are no older sessions. */
  readonly end?: PageEnd | undefined;
}

/**
 * Replaces the loaded sessions in the range of a page by the page. Unchanged sessions, and an unchanged list, keep
 * their identity.
 */
export function mergePage(
  loaded: readonly SessionSummary[],
  { after, sessions, end }: SessionListPage,
): readonly SessionSummary[] {
  const newer = after ? loaded.slice(0, indexAfter(loaded, after)) : [];
  const previous = new Map(loaded.map((session) => [session.path, session]));
  const all = new Map<string, SessionSummary>();
  // A session that occurs twice has moved up in between: the first occurrence is current.
  for (const session of [...newer, ...sessions, ...sessionsAfter(loaded, end)]) {
    if (!all.has(session.path)) all.set(session.path, reuseUnchanged(previous.get(session.path), session));
  }
  const merged = [...all.values()];
  return merged.length === loaded.length && merged.every((session, at) => session === loaded[at]) ? loaded : merged;
}

/** Returns the loaded sessions after the end of a page. */
export const sessionsAfter = (
  loaded: readonly SessionSummary[],
  end: PageEnd | undefined,
): readonly SessionSummary[] => (end ? loaded.slice(indexAfter(loaded, end)) : []);

/** Returns the index after the last session of a page; when it is missing, after all that are not older. */
function indexAfter(loaded: readonly SessionSummary[], { last }: PageEnd): number {
  const at = loaded.findIndex(({ path, lastModified }) => path === last.path && lastModified === last.lastModified);
  return 1 + (at >= 0 ? at : loaded.findLastIndex(({ lastModified }) => lastModified >= last.lastModified));
}

const reuseUnchanged = (previous: SessionSummary | undefined, now: SessionSummary): SessionSummary =>
  previous && (previous === now || JSON.stringify(previous) === JSON.stringify(now)) ? previous : now;
