/** Settles like the work, or rejects with `message` after the timeout. */
export async function withTimeout<T>(timeoutMs: number, work: Promise<T>, message: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(message)), timeoutMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

// A longer timer would fire at once.
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Returns the nearest time that a timer can wait. */
export const clampTimeout = (ms: number): number => Math.min(Math.max(ms, 0), MAX_TIMEOUT_MS);
