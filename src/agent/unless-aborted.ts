/** Settles with the work, or with undefined on abort, so that no pending work delays an abort. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Stops step-by-step work after an abort. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Error('Operation aborted');
}
