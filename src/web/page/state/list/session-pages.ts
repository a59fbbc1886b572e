import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';

/** Where a page of sessions ended: what asks for the next one, and the last session before it. */
export interface PageEnd {
  readonly cursor: string;
  readonly last: SessionSummary;
}

/** A stretch of the sessions of the server, the newest first. */
export interface SessionListPage {
  /** The end of the page before; undefined for the newest. */
  readonly after?: PageEnd | undefined;
  readonly sessions: readonly SessionSummary[];
  /** Undefined when there are no older ones. */
  readonly end?: PageEnd | undefined;
}

/**
 * What is known once a page is. Within its stretch the page tells all there is: whatever else was known there is gone, or
 * in another place. Sessions that are as they were stay the same objects, and so does the list.
 */
export function mergePage(
  loaded: readonly SessionSummary[],
  { after, sessions, end }: SessionListPage,
): readonly SessionSummary[] {
  const newer = after ? loaded.slice(0, indexAfter(loaded, after)) : [];
  const previous = new Map(loaded.map((session) => [session.path, session]));
  const all = new Map<string, SessionSummary>();
  // One that is told of twice has moved up in between: the newer one tells how it is.
  for (const session of [...newer, ...sessions, ...sessionsAfter(loaded, end)]) {
    if (!all.has(session.path)) all.set(session.path, reuseUnchanged(previous.get(session.path), session));
  }
  const merged = [...all.values()];
  return merged.length === loaded.length && merged.every((session, at) => session === loaded[at]) ? loaded : merged;
}

/** What is known of the sessions behind the end of a page. */
export const sessionsAfter = (loaded: readonly SessionSummary[], end: PageEnd | undefined): readonly SessionSummary[] =>
  end ? loaded.slice(indexAfter(loaded, end)) : [];

/** Behind the session that was the last of a page; where it is there no more, behind all that are not older. */
function indexAfter(loaded: readonly SessionSummary[], { last }: PageEnd): number {
  const at = loaded.findIndex(({ path, lastModified }) => path === last.path && lastModified === last.lastModified);
  return 1 + (at >= 0 ? at : loaded.findLastIndex(({ lastModified }) => lastModified >= last.lastModified));
}

const reuseUnchanged = (previous: SessionSummary | undefined, now: SessionSummary): SessionSummary =>
  previous && (previous === now || JSON.stringify(previous) === JSON.stringify(now)) ? previous : now;
