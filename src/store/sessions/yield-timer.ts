import { setImmediate as turn } from 'node:timers/promises';

/** How long a listing may keep everybody else waiting. */
const MAX_BLOCK_MS = 4;

/** Lets others have a turn while something long is done. */
export class YieldTimer {
  #since = performance.now();

  async yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#since < MAX_BLOCK_MS) return;
    await turn();
    this.#since = performance.now();
  }
}
