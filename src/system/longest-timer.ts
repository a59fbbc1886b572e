/** The longest time that a timer can wait, in milliseconds: one that is set for longer fires at once. */
export const LONGEST_MS = 2 ** 31 - 1;

/** A time that a timer can wait. */
export const timerMs = (ms: number): number => Math.min(Math.max(ms, 0), LONGEST_MS);
