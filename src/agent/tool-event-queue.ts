/**
 * Carries events of concurrent tools to one reader in order. An unread event is merged with a later one of the same
 * key, so that a paused reader costs bounded memory.
 */
export class ToolEventQueue<T> implements AsyncIterable<T> {
  #items: { key: string | undefined; event: T }[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  push(event: T): void {
    this.#add(undefined, event);
  }

  pushMerged(key: string, event: T, merge: (earlier: T, later: T) => T): void {
    const unread = this.#items.find((item) => item.key === key);
    if (unread) unread.event = merge(unread.event, event);
    else this.#add(key, event);
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    while (true) {
      const item = this.#items.shift();
      if (item) yield item.event;
      else if (this.#ended) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  #add(key: string | undefined, event: T): void {
    if (this.#ended) return;
    this.#items.push({ key, event });
    this.#wake?.();
  }
}
