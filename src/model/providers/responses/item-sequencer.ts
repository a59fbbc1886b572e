import type { ResponseEvent } from './events.ts';

const endTypes: ReadonlySet<string | undefined> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
]);

/** Orders interleaved events by item: events of later items wait until the current item is done. */
export class ItemSequencer {
  readonly #pending = new Map<number, ResponseEvent[]>();
  #current: number | undefined;

  /** The events that are due after this one arrived. */
  next(event: ResponseEvent): ResponseEvent[] {
    const { type, output_index: index } = event;
    if (index === undefined) return endTypes.has(type) ? [...this.flush(), event] : [event];
    this.#current ??= index;
    if (index !== this.#current) {
      const pending = this.#pending.get(index);
      if (pending) pending.push(event);
      else this.#pending.set(index, [event]);
      return [];
    }
    return type === 'response.output_item.done' ? [event, ...this.#startNextItem()] : [event];
  }

  #startNextItem(): ResponseEvent[] {
    this.#current = this.#pending.size === 0 ? undefined : Math.min(...this.#pending.keys());
    if (this.#current === undefined) return [];
    const events = this.#pending.get(this.#current) ?? [];
    this.#pending.delete(this.#current);
    return events.flatMap((event) => this.next(event));
  }

  /** The events of all items, complete or not. */
  flush(): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    while (this.#pending.size > 0) events.push(...this.#startNextItem());
    return events;
  }
}
