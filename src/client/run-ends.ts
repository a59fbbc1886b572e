/** Runs that are remembered after they have ended. */
export const MAX_ENDS = 100;

/** Knows which runs have ended: a server that is not sure whether somebody has heard of it tells it again. */
export class RunEnds {
  readonly #known = new Set<string>();

  /** Whether that is new. Of a run without a name nobody can tell. */
  take(runId: string): boolean {
    if (runId === '') return true;
    if (this.#known.has(runId)) return false;
    this.#known.add(runId);
    const [oldest] = this.#known;
    if (oldest !== undefined && this.#known.size > MAX_ENDS) this.#known.delete(oldest);
    return true;
  }
}
