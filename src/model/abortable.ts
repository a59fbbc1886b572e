/** Reads a provider's stream until the signal aborts. A provider that ignores the signal is abandoned. */
export class Abortable<T> {
  readonly #iterator: AsyncIterator<T>;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.#rejectPending(this.#signal.reason);
  #rejectPending: (reason: unknown) => void = () => {};

  constructor(events: AsyncIterable<T>, signal: AbortSignal) {
    this.#iterator = events[Symbol.asyncIterator]();
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Rejects with the abort reason, even if the provider never responds. */
  next(): Promise<IteratorResult<T>> {
    if (this.#signal.aborted) return Promise.reject(this.#signal.reason);
    return new Promise((resolve, reject) => {
      this.#rejectPending = reject;
      this.#iterator.next().then(resolve, reject);
    });
  }

  /** Lets the provider clean up, but waits for at most one turn of the event loop; after an abort for no I/O. */
  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    const cleaned = (async () => this.#iterator.return?.())().catch(() => undefined);
    const wait = this.#signal.aborted ? process.nextTick : setImmediate;
    await Promise.race([cleaned, new Promise<void>((resolve) => void wait(resolve))]);
  }
}
