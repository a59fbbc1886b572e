import { LastIds } from './last-ids.ts';

/** Knows which runs have ended: a server that is not sure whether somebody has heard of it tells it again. */
export class RunEnds {
  readonly #known = new LastIds();

  /** Whether that is new. Of a run without a name nobody can tell. */
  take(runId: string): boolean {
    if (runId === '') return true;
    const isNew = !this.#known.has(runId);
    this.#known.add(runId);
    return isNew;
  }
}
