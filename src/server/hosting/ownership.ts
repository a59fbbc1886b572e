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
