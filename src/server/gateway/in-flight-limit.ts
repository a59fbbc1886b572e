import { type Grant, tokenIdOf } from '../auth/grant.ts';

/** Commands of one token that may be in flight in all its clients, so that no token fills an agent alone. */
export const MAX_IN_FLIGHT_PER_TOKEN = 512;

/** Counts the commands in flight of each token, also those of closed clients. */
export class InFlightLimit {
  readonly #counts = new Map<string, number>();

  /** Adds one; returns whether that exceeds the limit. */
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
