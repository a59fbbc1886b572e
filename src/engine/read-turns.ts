import type { LineQueue } from '../fanout/line-queue.ts';

/** Longest time that the reads of a client may block the event loop at once, as far as they can be interrupted. */
export const MAX_READ_BLOCK_MS = 10;

/** Works on a read; returns whether it is complete, or settles when it is. */
type Step = () => boolean | Promise<void>;

/**
 * Runs the large reads of a client one after another. A short one runs at once; otherwise the event loop gets its turn
 * between the steps, and a read starts only when the client has read the response before it.
 */
export class ReadTurns {
  readonly #eventQueue: Pick<LineQueue, 'drained' | 'isFull'>;
  #waiting: { readonly step: Step; readonly done: () => void }[] = [];
  #isClosed = false;
  /** Time that reads took in this turn of the event loop. */
  #usedMs = 0;

  constructor(eventQueue: Pick<LineQueue, 'drained' | 'isFull'>) {
    this.#eventQueue = eventQueue;
  }

  /** Returns undefined if the read is complete already; otherwise settles when it is complete, or the client closed. */
  run(step: Step): Promise<void> | undefined {
    const isFree = this.#waiting.length === 0 && this.#usedMs < MAX_READ_BLOCK_MS && !this.#eventQueue.isFull;
    const outcome = isFree && this.#measured(step);
    if (outcome === true) return undefined;
    return new Promise((done) => {
      this.#waiting.push({ step: outcome === false ? step : () => outcome, done });
      if (this.#waiting.length === 1) void this.#work();
    });
  }

  /** Drops the reads that are not complete. */
  close(): void {
    this.#isClosed = true;
    for (const { done } of this.#waiting) done();
  }

  async #work(): Promise<void> {
    for (let next = this.#waiting[0]; next && !this.#isClosed; next = this.#waiting[0]) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.#eventQueue.drained();
      const outcome = this.#isClosed || next.step();
      if (outcome === false) continue;
      await outcome;
      this.#waiting.shift();
      next.done();
    }
  }

  #measured(step: Step): ReturnType<Step> {
    if (this.#usedMs === 0)
      setImmediate(() => {
        this.#usedMs = 0;
      });
    const start = performance.now();
    const outcome = step();
    this.#usedMs += performance.now() - start;
    return outcome;
  }
}
