import { type Grant, holderOf } from '../auth/grant.ts';

/** Commands of one token that may wait for an answer, from all its clients: an agent takes those of several tokens. */
export const MAX_UNANSWERED_OF_ONE = 512;

/** Counts the commands of each token that are not answered yet, also those of clients that have left. */
export class Unanswered {
  readonly #counts = new Map<string, number>();

  /** One more; whether that is too many. */
  begin(grant: Grant): boolean {
    const count = this.#of(grant) + 1;
    this.#counts.set(holderOf(grant), count);
    return count > MAX_UNANSWERED_OF_ONE;
  }

  end(grant: Grant): void {
    const count = this.#of(grant) - 1;
    if (count > 0) this.#counts.set(holderOf(grant), count);
    else this.#counts.delete(holderOf(grant));
  }

  #of(grant: Grant): number {
    return this.#counts.get(holderOf(grant)) ?? 0;
  }
}
