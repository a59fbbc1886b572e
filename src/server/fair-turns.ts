/**
 * Runs work of several holders one at a time, the holders taking turns, so that much work of one delays that of another
 * by one piece only.
 */
export class FairTurns {
  /** The waiting work of each holder, in the order of their turns. */
  readonly #waiting = new Map<string, (() => Promise<void>)[]>();
  #isRunning = false;

  /** Settles with the outcome of the work. */
  run<T>(holder: string, work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const queue = this.#waiting.get(holder) ?? [];
      queue.push(async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      });
      this.#waiting.set(holder, queue);
      if (!this.#isRunning) void this.#runAll();
    });
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#takeNext(); next; next = this.#takeNext()) {
      await next();
      // Timers and sockets get their turn, also when the work never waited.
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#isRunning = false;
  }

  /** The oldest work of the first holder, which moves to the end. */
  #takeNext(): (() => Promise<void>) | undefined {
    const [first] = this.#waiting;
    if (!first) return undefined;
    const [holder, queue] = first;
    const work = queue.shift();
    this.#waiting.delete(holder);
    if (queue.length > 0) this.#waiting.set(holder, queue);
    return work;
  }
}
