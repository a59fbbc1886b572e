import { setImmediate as turn } from 'node:timers/promises';

// Longest time that a listing may block the event loop.
const MAX_BLOCK_MS = 4;

/** Yields to the event loop during long work. */
export class YieldTimer {
  #since = performance.now();

  async yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#since < MAX_BLOCK_MS) return;
    await turn();
    this.#since = performance.now();
  }
}
