import type { StreamTimeouts } from '../endpoint.ts';
import { ModelFailure } from '../request.ts';

/** Aborts its signal when a server sends nothing for too long; `failure` then holds the reason. */
export class StallTimer {
  readonly #controller = new AbortController();
  readonly #timeouts: StreamTimeouts;
  readonly #outer: AbortSignal;
  readonly #onOuterAbort = () => this.#controller.abort(this.#outer.reason);
  #timer: NodeJS.Timeout;
  #hasData = false;
  #isCounting = true;
  #isEnding = false;
  #failure: ModelFailure | undefined;

  /** Also follows the outer signal. */
  constructor(timeouts: StreamTimeouts, outer: AbortSignal) {
    this.#timeouts = timeouts;
    this.#outer = outer;
    if (outer.aborted) this.#onOuterAbort();
    outer.addEventListener('abort', this.#onOuterAbort, { once: true });
    this.#timer = this.#startTimer(timeouts.firstByteMs, 'The model did not begin to answer');
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get failure(): ModelFailure | undefined {
    return this.#failure;
  }

  /** Restarts the timeout: the server sent data. */
  onData(): void {
    if (this.#isEnding) return;
    if (this.#hasData) {
      this.#timer.refresh();
      return;
    }
    this.#hasData = true;
    clearTimeout(this.#timer);
    this.#timer = this.#startTimer(
      this.#timeouts.betweenMs,
      'The model stopped in the middle of its answer and did not continue',
    );
  }

  /** Suspends or resumes the timeout, which restarts from zero. */
  setCounting(isCounting: boolean): void {
    this.#isCounting = isCounting;
    if (!this.#isEnding) this.#timer.refresh();
  }

  /** Suspends the timeout while tau itself works. */
  async pauseDuring<T>(work: Promise<T> | T): Promise<T> {
    this.setCounting(false);
    try {
      return await work;
    } finally {
      this.setCounting(true);
    }
  }

  /** The response is complete: starts the final timeout, which no data extends. */
  startEndTimeout(ms: number): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    clearTimeout(this.#timer);
    this.#timer = this.#startTimer(Math.min(ms, this.#timeouts.betweenMs), 'The model did not end its answer');
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#onOuterAbort);
  }

  #startTimer(ms: number, problem: string): NodeJS.Timeout {
    return setTimeout(() => {
      if (!this.#isCounting) return;
      this.#failure = new ModelFailure('stalled', `${problem} within ${ms} ms`);
      this.#controller.abort(this.#failure);
    }, ms);
  }
}
