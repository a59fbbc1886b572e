/** Work took longer than it may. */
export class DeadlineMissed extends Error {
  override readonly name = 'DeadlineMissed';
}

/** A limit for a handler. It counts only the time in which the handler does not wait for a person. */
export class Deadline {
  readonly #onMissed: () => void;
  #left: number;
  #since = 0;
  #waits = 0;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(limitMs: number, onMissed: () => void) {
    this.#left = limitMs;
    this.#onMissed = onMissed;
  }

  /** What the work comes to; rejects with `DeadlineMissed` when it takes too long. */
  static race<T>(limitMs: number, work: (deadline: Deadline) => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = new Deadline(limitMs, () =>
        reject(new DeadlineMissed(`The handler did not finish within ${limitMs / 1000} seconds`)),
      );
      deadline.#run();
      const begun = (async () => work(deadline))();
      void begun.then(resolve, reject).finally(() => {
        deadline.#isOver = true;
        deadline.#stop();
      });
    });
  }

  /** Waits for a person: the clock stands still. */
  async during<T>(wait: Promise<T>): Promise<T> {
    if (this.#waits++ === 0) this.#stop();
    try {
      return await wait;
    } finally {
      if (--this.#waits === 0 && !this.#isOver) this.#run();
    }
  }

  #run(): void {
    this.#since = Date.now();
    this.#timer = setTimeout(this.#onMissed, Math.max(this.#left, 0));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#left -= Date.now() - this.#since;
  }
}
