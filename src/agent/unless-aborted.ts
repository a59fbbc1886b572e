/** What the work comes to, or undefined when the signal aborts first: nothing that waits may hold up an abort. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/** Stops work that goes on step by step. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Error('Operation aborted');
}
