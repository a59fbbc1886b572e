/** Limits of one call in milliseconds. */
export interface CallLimits {
  /** Without any sign of the server. */
  readonly idleMs: number;
  readonly totalMs: number;
}

/** Ends a call after silence or in total. Time in which the server waits for the user does not count. */
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

  /** Starts or continues; the silence starts over. */
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

  /** Restarts the silence unless the timer is paused. */
  touch(): void {
    if (this.#timer !== undefined) this.resume();
  }
}
