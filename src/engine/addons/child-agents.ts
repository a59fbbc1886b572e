/** An agent that an extension created. */
export interface ChildAgent {
  dispose(): Promise<void>;
}

/** The agents that extensions created for the current session. They end with it. */
export class ChildAgents {
  readonly #agents = new Set<ChildAgent>();
  #session = new AbortController();
  #isClosed = false;

  /** Aborted when the current session ends: an agent whose creation began before must then be disposed. */
  get sessionEnd(): AbortSignal {
    return this.#session.signal;
  }

  add(agent: ChildAgent): void {
    this.#agents.add(agent);
  }

  delete(agent: ChildAgent): void {
    this.#agents.delete(agent);
  }

  /** Disposes the agents of the session that ends; the next session may have others. */
  async endSession(): Promise<void> {
    this.#session.abort();
    if (!this.#isClosed) this.#session = new AbortController();
    const agents = [...this.#agents];
    this.#agents.clear();
    await Promise.allSettled(agents.map((agent) => agent.dispose()));
  }

  /** Disposes all agents for good. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.endSession();
  }
}
