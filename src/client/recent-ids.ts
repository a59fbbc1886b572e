/** The number of ids that are remembered. */
export const MAX_RECENT_IDS = 100;

/** Remembers the most recent ids. */
export class RecentIds {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (oldest !== undefined && this.#ids.size > MAX_RECENT_IDS) this.#ids.delete(oldest);
  }
}

/** Filters repeated `agent_settled` events: a server repeats one whose delivery is uncertain. */
export class SettledRuns {
  readonly #ids = new RecentIds();

  /** Returns whether the run is new; runs without an id always are. */
  record(runId: string): boolean {
    if (runId === '') return true;
    const isNew = !this.#ids.has(runId);
    this.#ids.add(runId);
    return isNew;
  }
}
