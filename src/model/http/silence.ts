import type { Patience } from '../endpoint.ts';
import { ModelFailure } from '../request.ts';

/** Watches over a server that may fall silent: then its signal aborts, and `failure` says why. */
export class Silence {
  readonly #controller = new AbortController();
  readonly #patience: Patience;
  readonly #outer: AbortSignal;
  readonly #follow = () => this.#controller.abort(this.#outer.reason);
  #timer: NodeJS.Timeout;
  #hasBegun = false;
  #isListening = true;
  #isLast = false;
  #failure: ModelFailure | undefined;

  /** Follows the outer signal, too. */
  constructor(patience: Patience, outer: AbortSignal) {
    this.#patience = patience;
    this.#outer = outer;
    if (outer.aborted) this.#follow();
    outer.addEventListener('abort', this.#follow, { once: true });
    this.#timer = this.#limit(patience.firstByteMs, 'The model did not begin to answer');
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What the silence came to, once it was too long. */
  get failure(): ModelFailure | undefined {
    return this.#failure;
  }

  /** The server said something. */
  broken(): void {
    if (this.#isLast) return;
    if (this.#hasBegun) {
      this.#timer.refresh();
      return;
    }
    this.#hasBegun = true;
    clearTimeout(this.#timer);
    this.#timer = this.#limit(
      this.#patience.betweenMs,
      'The model stopped in the middle of its answer and did not go on',
    );
  }

  /** Silence does not count while nobody listens. */
  listen(isListening: boolean): void {
    this.#isListening = isListening;
    if (!this.#isLast) this.#timer.refresh();
  }

  /** Waits for work that is not the server's. */
  async without<T>(work: Promise<T>): Promise<T> {
    this.listen(false);
    try {
      return await work;
    } finally {
      this.listen(true);
    }
  }

  /** Everything was said: there is this much patience left, whatever else comes. */
  shorten(ms: number): void {
    if (this.#isLast) return;
    this.#isLast = true;
    clearTimeout(this.#timer);
    this.#timer = this.#limit(Math.min(ms, this.#patience.betweenMs), 'The model did not end its answer');
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#follow);
  }

  #limit(ms: number, what: string): NodeJS.Timeout {
    return setTimeout(() => {
      if (!this.#isListening) return;
      this.#failure = new ModelFailure('stalled', `${what} within ${ms} ms`);
      this.#controller.abort(this.#failure);
    }, ms);
  }
}
