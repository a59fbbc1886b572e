/** Lines that a client may send at once, and how many more each second. */
export const BURST = 1000;
export const PER_SECOND = 200;

/** How many more than it may, before it is sent away. */
export const MAX_EXCESS = 1000;

/** Counts what a client sends, as water in a bucket with a hole. */
export class CommandRate {
  readonly #now: () => number;
  #level = 0;
  #at: number;
  #excess = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** What to do with one more. */
  take(): 'ok' | 'refuse' | 'close' {
    const now = this.#now();
    this.#level = Math.max(0, this.#level - ((now - this.#at) / 1000) * PER_SECOND);
    this.#at = now;
    if (this.#level < BURST) {
      this.#level++;
      this.#excess = 0;
      return 'ok';
    }
    return ++this.#excess > MAX_EXCESS ? 'close' : 'refuse';
  }
}
