/** Settles like the work, or rejects with a reason, by default that of the signal, when it aborts. The work continues. */
export function untilAbort<T>(work: Promise<T>, signal: AbortSignal, reason?: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(reason ? reason() : signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
