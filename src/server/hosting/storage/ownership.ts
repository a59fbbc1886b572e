/** The right to run a session, until it is released or lost. */
export interface Claim {
  /** Grows with every claim to the same session, so that a store can reject an older owner. */
  readonly token: number;
  /** Aborts when another owner takes the session. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Grants each session to one owner at a time. */
export interface Ownership {
  /** Undefined if the session is owned. */
  claim(sessionId: string): Promise<Claim | undefined>;
}

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
