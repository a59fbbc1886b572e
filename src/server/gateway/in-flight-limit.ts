import { type Grant, tokenIdOf } from '../auth/grant.ts';

/** Commands of one token that may wait for an answer, from all its clients: an agent takes those of several tokens. */
export const MAX_IN_FLIGHT_PER_TOKEN = 512;

/** Counts the commands of each token that are not answered yet, also those of clients that have left. */
export class InFlightLimit {
  readonly #counts = new Map<string, number>();

  /** One more; whether that is too many. */
  add(grant: Grant): boolean {
    const count = this.#countOf(grant) + 1;
    this.#counts.set(tokenIdOf(grant), count);
    return count > MAX_IN_FLIGHT_PER_TOKEN;
  }

  remove(grant: Grant): void {
    const count = this.#countOf(grant) - 1;
    if (count > 0) this.#counts.set(tokenIdOf(grant), count);
    else this.#counts.delete(tokenIdOf(grant));
  }

  #countOf(grant: Grant): number {
    return this.#counts.get(tokenIdOf(grant)) ?? 0;
  }
}
