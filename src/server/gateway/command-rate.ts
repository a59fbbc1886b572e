/** Lines that a client may send at once, and how many more each second. */
export const BURST_LINES = 1000;
export const LINES_PER_SECOND = 200;

/** How many more than it may, before it is sent away. */
export const MAX_EXCESS_LINES = 1000;

/** A long line is work for as many short ones as it has pieces of this size. */
export const BYTES_PER_LINE = 64 * 1024;

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
    const level = Math.max(0, this.#level - ((now - this.#at) / 1000) * LINES_PER_SECOND);
    this.#at = now;
    this.#level = level + 1 + Math.floor(bytes / BYTES_PER_LINE);
    if (level < BURST_LINES) return 'ok';
    return level < BURST_LINES + MAX_EXCESS_LINES ? 'refuse' : 'close';
  }
}
