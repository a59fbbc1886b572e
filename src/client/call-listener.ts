/** Calls a listener; an error that it throws becomes an uncaught exception and keeps nothing from other listeners. */
export function callListener<T>(listener: (value: T) => void, value: T): void {
  try {
    listener(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
