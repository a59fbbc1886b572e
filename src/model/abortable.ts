/** What a provider says until the signal aborts. One that does not stop by itself is left alone with its work. */
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

  /** Rejects with the reason of the abort, also when the provider never answers. */
  next(): Promise<IteratorResult<T>> {
    if (this.#signal.aborted) return Promise.reject(this.#signal.reason);
    return new Promise((resolve, reject) => {
      this.#rejectPending = reject;
      this.#iterator.next().then(resolve, reject);
    });
  }

  /** Lets the provider clean up. One that does not come to an end is waited for no longer than a moment. */
  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#onAbort);
    const cleaned = (async () => this.#iterator.return?.())().catch(() => undefined);
    await Promise.race([cleaned, new Promise((resolve) => setImmediate(resolve))]);
  }
}
