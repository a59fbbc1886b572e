import type { ResponseEvent } from './events.ts';

const endTypes: ReadonlySet<string | undefined> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** Puts items one after the other: what is told of an item while another is under way waits until that one is done. */
export class ItemSequencer {
  readonly #pending = new Map<number, ResponseEvent[]>();
  #current: number | undefined;

  /** What can be told now that this event is here. */
  next(event: ResponseEvent): ResponseEvent[] {
    const { type, output_index: index } = event;
    if (index === undefined) return endTypes.has(type) ? [...this.#flush(), event] : [event];
    this.#current ??= index;
    if (index !== this.#current) {
      const pending = this.#pending.get(index);
      if (pending) pending.push(event);
      else this.#pending.set(index, [event]);
      return [];
    }
    return type === 'response.output_item.done' ? [event, ...this.#startNextItem()] : [event];
  }

  /** What is known of the item whose turn it is then. */
  #startNextItem(): ResponseEvent[] {
    this.#current = this.#pending.size === 0 ? undefined : Math.min(...this.#pending.keys());
    if (this.#current === undefined) return [];
    const events = this.#pending.get(this.#current) ?? [];
    this.#pending.delete(this.#current);
    return events.flatMap((event) => this.next(event));
  }

  #flush(): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    while (this.#pending.size > 0) events.push(...this.#startNextItem());
    return events;
  }
}
