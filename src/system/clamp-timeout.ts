// A longer timer would fire at once.
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Returns the nearest time that a timer can wait. */
export const clampTimeout = (ms: number): number => Math.min(Math.max(ms, 0), MAX_TIMEOUT_MS);
