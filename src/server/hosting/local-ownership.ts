import type { Claim, Ownership } from './ownership.ts';

/** Claims within one process. Between processes, the lock of the session file decides. */
export class LocalOwnership implements Ownership {
  readonly #held = new Map<string, number>();
  #claims = 0;

  async claim(sessionId: string): Promise<Claim | undefined> {
    if (this.#held.has(sessionId)) return undefined;
    const token = ++this.#claims;
    this.#held.set(sessionId, token);
    return {
      token,
      lost: new AbortController().signal,
      release: async () => {
        if (this.#held.get(sessionId) === token) this.#held.delete(sessionId);
      },
    };
  }
}
