/** How often an agent may crash within a time before it is given up. */
const MAX_CRASHES = 3;
const CRASH_WINDOW_MS = 60_000;

/** Counts how often an agent has crashed lately. */
export class CrashCounter {
  #times: number[] = [];

  /** One more; answers whether that is too often. */
  add(now = performance.now()): boolean {
    this.#times = [...this.#times.filter((at) => now - at < CRASH_WINDOW_MS), now];
    return this.#times.length > MAX_CRASHES;
  }
}
