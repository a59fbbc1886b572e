import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';

/** Where a page of sessions ended: what asks for the next one, and the last session before it. */
export interface PageEnd {
  readonly cursor: string;
  readonly last: SessionSummary;
}

/** A stretch of the sessions of the server, the newest first. */
export interface SessionPage {
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
export function knownWith(
  known: readonly SessionSummary[],
  { after, sessions, end }: SessionPage,
): readonly SessionSummary[] {
  const newer = after ? known.slice(0, placeBehind(known, after)) : [];
  const before = new Map(known.map((session) => [session.path, session]));
  const all = new Map<string, SessionSummary>();
  // One that is told of twice has moved up in between: the newer one tells how it is.
  for (const session of [...newer, ...sessions, ...knownBehind(known, end)]) {
    if (!all.has(session.path)) all.set(session.path, sameOr(before.get(session.path), session));
  }
  const now = [...all.values()];
  return now.length === known.length && now.every((session, at) => session === known[at]) ? known : now;
}

/** What is known of the sessions behind the end of a page. */
export const knownBehind = (known: readonly SessionSummary[], end: PageEnd | undefined): readonly SessionSummary[] =>
  end ? known.slice(placeBehind(known, end)) : [];

/** Behind the session that was the last of a page; where it is there no more, behind all that are not older. */
function placeBehind(known: readonly SessionSummary[], { last }: PageEnd): number {
  const at = known.findIndex(({ path, lastModified }) => path === last.path && lastModified === last.lastModified);
  return 1 + (at >= 0 ? at : known.findLastIndex(({ lastModified }) => lastModified >= last.lastModified));
}

const sameOr = (before: SessionSummary | undefined, now: SessionSummary): SessionSummary =>
  before && (before === now || JSON.stringify(before) === JSON.stringify(now)) ? before : now;
