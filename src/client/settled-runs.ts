import { RecentIds } from './recent-ids.ts';

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
