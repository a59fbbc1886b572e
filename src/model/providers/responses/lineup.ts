import type { ResponseEvent } from './events.ts';

const ends: ReadonlySet<string | undefined> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** Puts items one after the other: what is told of an item while another is under way waits until that one is done. */
export class Lineup {
  readonly #waiting = new Map<number, ResponseEvent[]>();
  #current: number | undefined;

  /** What can be told now that this event is here. */
  next(event: ResponseEvent): ResponseEvent[] {
    const { type, output_index: index } = event;
    if (index === undefined) return ends.has(type) ? [...this.#rest(), event] : [event];
    this.#current ??= index;
    if (index !== this.#current) {
      const waiting = this.#waiting.get(index);
      if (waiting) waiting.push(event);
      else this.#waiting.set(index, [event]);
      return [];
    }
    return type === 'response.output_item.done' ? [event, ...this.#following()] : [event];
  }

  /** What is known of the item whose turn it is then. */
  #following(): ResponseEvent[] {
    this.#current = this.#waiting.size === 0 ? undefined : Math.min(...this.#waiting.keys());
    if (this.#current === undefined) return [];
    const events = this.#waiting.get(this.#current) ?? [];
    this.#waiting.delete(this.#current);
    return events.flatMap((event) => this.next(event));
  }

  #rest(): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    while (this.#waiting.size > 0) events.push(...this.#following());
    return events;
  }
}
