/** Limits of one call in milliseconds. */
export interface CallLimits {
  /** Longest time without a message from the server. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** Ends a call after an idle time or a total time. While a request of the server is open, neither counts. */
export class CallTimer {
  readonly #limits: CallLimits;
  readonly #onExpire: (limit: keyof CallLimits) => void;
  #leftMs: number;
  #armedAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: CallLimits, onExpire: (limit: keyof CallLimits) => void) {
    this.#limits = limits;
    this.#leftMs = limits.totalMs;
    this.#onExpire = onExpire;
  }

  /** Starts or continues; the idle time starts over. */
  resume(): void {
    this.pause();
    const limit = this.#leftMs <= this.#limits.idleMs ? 'totalMs' : 'idleMs';
    this.#armedAt = performance.now();
    this.#timer = setTimeout(() => this.#onExpire(limit), Math.min(this.#leftMs, this.#limits.idleMs));
  }

  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#armedAt));
  }

  /** Restarts the idle time unless the timer is paused. */
  touch(): void {
    if (this.#timer !== undefined) this.resume();
  }
}
