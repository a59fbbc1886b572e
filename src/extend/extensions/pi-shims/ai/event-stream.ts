import type { AssistantMessage, AssistantMessageEvent } from '../../../../protocol/generated/vocabulary.ts';

/** pi-ai's event stream: one side pushes events, the other reads them and the final result. */
export class EventStream<Event, Result = Event> implements AsyncIterable<Event> {
  readonly #isLast: (event: Event) => boolean;
  readonly #resultOf: (event: Event) => Result;
  readonly #result: Promise<Result>;
  readonly #events: Event[] = [];
  #settle: { resolve: (result: Result) => void; reject: (error: Error) => void } | undefined;
  #ended = false;
  #wakers: (() => void)[] = [];

  constructor(isLast: (event: Event) => boolean, resultOf: (event: Event) => Result) {
    this.#isLast = isLast;
    this.#resultOf = resultOf;
    this.#result = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // A caller may never read the result.
    this.#result.catch(() => {});
  }

  push(event: Event): void {
    if (this.#ended) return;
    this.#events.push(event);
    if (this.#isLast(event)) {
      this.#ended = true;
      this.#settle?.resolve(this.#resultOf(event));
    }
    this.#wake();
  }

  /** Rejects `result()` if there is neither a result nor a last event. */
  end(result?: Result): void {
    this.#ended = true;
    if (result === undefined) this.#settle?.reject(new Error('The stream ended without a result'));
    else this.#settle?.resolve(result);
    this.#wake();
  }

  result(): Promise<Result> {
    return this.#result;
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event> {
    while (true) {
      for (let event = this.#events.shift(); event !== undefined; event = this.#events.shift()) yield event;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wakers.push(resolve);
      });
    }
  }
}

export class AssistantMessageEventStream extends EventStream<AssistantMessageEvent, AssistantMessage> {
  constructor() {
    super(({ type }) => type === 'done' || type === 'error', finalMessageOf);
  }
}

export const createAssistantMessageEventStream = (): AssistantMessageEventStream => new AssistantMessageEventStream();

function finalMessageOf(event: AssistantMessageEvent): AssistantMessage {
  if (event.type === 'done') return event.message as AssistantMessage;
  if (event.type === 'error') return event.error as AssistantMessage;
  throw new Error(`No answer ends with ${event.type}`);
}
