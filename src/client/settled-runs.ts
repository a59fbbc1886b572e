import { RecentIds } from './recent-ids.ts';

/** Knows which runs have ended: a server that is not sure whether somebody has heard of it tells it again. */
export class SettledRuns {
  readonly #ids = new RecentIds();

  /** Whether that is new. Of a run without a name nobody can tell. */
  record(runId: string): boolean {
    if (runId === '') return true;
    const isNew = !this.#ids.has(runId);
    this.#ids.add(runId);
    return isNew;
  }
}
