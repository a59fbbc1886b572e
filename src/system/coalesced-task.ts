/**
 * Runs a task one execution at a time: calls during an execution share the next one, so that none gets a stale result.
 */
export class CoalescedTask<T> {
  readonly #work: () => Promise<T>;
  #current: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  run(): Promise<T> {
    if (this.#current === undefined) return this.#start();
    this.#next ??= this.#current
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#start();
      });
    return this.#next;
  }

  /** Settles when the execution in progress, if any, has ended. Starts none and never rejects. */
  async settled(): Promise<void> {
    await this.#current?.catch(() => undefined);
  }

  #start(): Promise<T> {
    const current = this.#work().finally(() => {
      this.#current = undefined;
    });
    this.#current = current;
    return current;
  }
}
