/** The longest time that a timer can wait, in milliseconds: one that is set for longer fires at once. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** A time that a timer can wait. */
export const clampTimeout = (ms: number): number => Math.min(Math.max(ms, 0), MAX_TIMEOUT_MS);
