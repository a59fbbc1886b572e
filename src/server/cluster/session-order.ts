import type { IndexedSession } from './cluster-index.ts';

/** The place of a session in a list. */
export type Position = Pick<IndexedSession, 'lastModified' | 'id'>;

/** Last written first; equal times are ordered by id. */
function byAge(a: Position, b: Position): number {
  if (a.lastModified !== b.lastModified) return a.lastModified > b.lastModified ? -1 : 1;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

/** Sessions in the order of lists. Sorted at the first access, because a node starts with all sessions of its cluster. */
export class SessionOrder {
  readonly #sessions: IndexedSession[] = [];
  #isSorted = false;

  /** Last written first. */
  get sessions(): readonly IndexedSession[] {
    if (!this.#isSorted) this.#sessions.sort(byAge);
    this.#isSorted = true;
    return this.#sessions;
  }

  /** Replaces a session of the list; undefined stands for none. */
  replace(previous: IndexedSession | undefined, next: IndexedSession | undefined): void {
    if (previous) this.#sessions.splice(this.#positionOf(previous), 1);
    if (!next) return;
    if (this.#isSorted) this.#sessions.splice(this.#positionOf(next), 0, next);
    else this.#sessions.push(next);
  }

  /** The index of the first session behind a position that need not be in the list any more. */
  positionAfter(position: Position): number {
    const at = this.#positionOf(position);
    const session = this.sessions[at];
    return session && byAge(session, position) === 0 ? at + 1 : at;
  }

  /** The index of a session, or the one at which it belongs. */
  #positionOf(position: Position): number {
    const { sessions } = this;
    let [low, high] = [0, sessions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const session = sessions[middle];
      if (session && byAge(session, position) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
