/** Lines that a client may send at once, and how many more each second. */
export const BURST = 1000;
export const PER_SECOND = 200;

/** How many more than it may, before it is sent away. */
export const MAX_EXCESS = 1000;

/** A long line is work for as many short ones as it has pieces of this size. */
export const BYTES_OF_A_LINE = 64 * 1024;

/** Counts what a client sends, as water in a bucket with a hole. Whoever does not stop when refused fills it. */
export class CommandRate {
  readonly #now: () => number;
  #level = 0;
  #at: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** What to do with one more line, of so many bytes. */
  take(bytes = 0): 'ok' | 'refuse' | 'close' {
    const now = this.#now();
    const before = Math.max(0, this.#level - ((now - this.#at) / 1000) * PER_SECOND);
    this.#at = now;
    this.#level = before + 1 + Math.floor(bytes / BYTES_OF_A_LINE);
    if (before < BURST) return 'ok';
    return before < BURST + MAX_EXCESS ? 'refuse' : 'close';
  }
}
