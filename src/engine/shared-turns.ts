/** Work that is done once at a time: whoever asks while it is being done shares the next turn, and nobody a stale one. */
export class SharedTurns<T> {
  readonly #work: () => Promise<T>;
  #now: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  take(): Promise<T> {
    if (this.#now === undefined) return this.#begin();
    this.#next ??= this.#now
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    return this.#next;
  }

  #begin(): Promise<T> {
    const turn = this.#work().finally(() => {
      this.#now = undefined;
    });
    this.#now = turn;
    return turn;
  }
}
