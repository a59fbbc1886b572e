// Crashes within this time after which an agent is not started again.
const MAX_CRASHES = 3;
const CRASH_WINDOW_MS = 60_000;

/** Counts the recent crashes of an agent. */
export class CrashCounter {
  #times: number[] = [];

  /** Adds one; returns whether that exceeds the limit. */
  add(now = performance.now()): boolean {
    this.#times = [...this.#times.filter((at) => now - at < CRASH_WINDOW_MS), now];
    return this.#times.length > MAX_CRASHES;
  }
}
