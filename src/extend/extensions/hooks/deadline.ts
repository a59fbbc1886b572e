/** A handler exceeded its time limit. */
export class DeadlineMissed extends Error {
  override readonly name = 'DeadlineMissed';
}

/** The time limit of a handler. It does not count the time spent waiting for a user. */
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

  /** Resolves with the result of the work; rejects with `DeadlineMissed` when the time is up. */
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

  /** Stops the clock while a dialog is open. */
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
