/** The right to run a session, until it is given back or lost. */
export interface Claim {
  /** Greater than that of every earlier claim to the same session: whoever keeps something refuses a smaller one. */
  readonly token: number;
  /** Aborts when the session is somebody else's. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

/** Who runs which session. */
export interface Ownership {
  /** Undefined when somebody has it. */
  claim(sessionId: string): Promise<Claim | undefined>;
}
