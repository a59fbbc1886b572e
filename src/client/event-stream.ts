import type { AgentEvent } from '../protocol/generated/vocabulary.ts';

/** Events for a reader who takes them one by one. */
export class EventStream implements AsyncIterableIterator<AgentEvent> {
  onReturn: () => void = () => {};
  readonly #events: AgentEvent[] = [];
  readonly #readers: ((result: IteratorResult<AgentEvent>) => void)[] = [];
  #ended = false;

  push(event: AgentEvent): void {
    const reader = this.#readers.shift();
    if (reader) reader({ done: false, value: event });
    else this.#events.push(event);
  }

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    const value = this.#events.shift();
    if (value) return Promise.resolve({ done: false, value });
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.onReturn();
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
