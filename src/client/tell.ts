/** A listener that fails is its owner's concern: the others hear it all the same, and what comes next too. */
export function tell<T>(listener: (news: T) => void, news: T): void {
  try {
    listener(news);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
