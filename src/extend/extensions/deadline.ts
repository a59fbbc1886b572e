/** Work took longer than it may. */
export class DeadlineMissed extends Error {
  override readonly name = 'DeadlineMissed';
}

/** A limit for a handler. It counts only the time in which the handler does not wait for a person. */
export class Deadline {
  readonly #onMissed: () => void;
  #remainingMs: number;
  #startedAt = 0;
  #pendingWaits = 0;
  #isDone = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(limitMs: number, onMissed: () => void) {
    this.#remainingMs = limitMs;
    this.#onMissed = onMissed;
  }

  /** What the work comes to; rejects with `DeadlineMissed` when it takes too long. */
  static race<T>(limitMs: number, work: (deadline: Deadline) => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const deadline = new Deadline(limitMs, () =>
        reject(new DeadlineMissed(`The handler did not finish within ${limitMs / 1000} seconds`)),
      );
      deadline.#run();
      const running = (async () => work(deadline))();
      void running.then(resolve, reject).finally(() => {
        deadline.#isDone = true;
        deadline.#stop();
      });
    });
  }

  /** Waits for a person: the clock stands still. */
  async pauseDuring<T>(wait: Promise<T>): Promise<T> {
    if (this.#pendingWaits++ === 0) this.#stop();
    try {
      return await wait;
    } finally {
      if (--this.#pendingWaits === 0 && !this.#isDone) this.#run();
    }
  }

  #run(): void {
    this.#startedAt = Date.now();
    this.#timer = setTimeout(this.#onMissed, Math.max(this.#remainingMs, 0));
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#remainingMs -= Date.now() - this.#startedAt;
  }
}
