import { setImmediate as turn } from 'node:timers/promises';

/** How long a listing may keep everybody else waiting. */
const LONGEST_MS = 4;

/** Lets others have a turn while something long is done. */
export class Breath {
  #since = performance.now();

  async take(): Promise<void> {
    if (performance.now() - this.#since < LONGEST_MS) return;
    await turn();
    this.#since = performance.now();
  }
}
