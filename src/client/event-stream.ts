import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import type { EventReader } from './event-reader.ts';

/** Text of events that may wait in an iterator for whoever reads it. */
export const MAX_UNREAD = 64 * 1024 * 1024;

/** Nobody read an iterator while more events came than it keeps. They are let go, and it ends. */
export class EventsLost extends Error {
  override readonly name = 'EventsLost';
}

interface Unread {
  readonly event: AgentEvent;
  readonly length: number;
}

const over: IteratorResult<AgentEvent> = { done: true, value: undefined };

/** Events for a reader who takes them one by one. One who does not costs bounded memory. */
export class EventStream implements AsyncIterableIterator<AgentEvent>, EventReader {
  readonly #leave: (stream: EventStream) => void;
  readonly #readers: ((result: IteratorResult<AgentEvent>) => void)[] = [];
  #arrived: Unread[] = [];
  /** The next one is the last: taking the first of a long list takes long. */
  #reversed: Unread[] = [];
  #unread = 0;
  #ended = false;
  #lost: EventsLost | undefined;

  /** `leave` is called when the stream does not want to hear more. */
  constructor(leave: (stream: EventStream) => void) {
    this.#leave = leave;
  }

  push(event: AgentEvent, length: number): void {
    const reader = this.#readers.shift();
    if (reader) reader({ done: false, value: event });
    else if (this.#unread > MAX_UNREAD) this.#lose();
    else {
      this.#arrived.push({ event, length });
      this.#unread += length;
    }
  }

  caughtUp(): void {}

  end(): void {
    this.#ended = true;
    for (const reader of this.#readers.splice(0)) reader(over);
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#lost) return this.#fail(this.#lost);
    const event = this.#take();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve(over);
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.#leave(this);
    this.#forget();
    this.end();
    return Promise.resolve(over);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): AgentEvent | undefined {
    if (this.#reversed.length === 0) {
      this.#reversed = this.#arrived.reverse();
      this.#arrived = [];
    }
    const next = this.#reversed.pop();
    this.#unread -= next?.length ?? 0;
    return next?.event;
  }

  #lose(): void {
    this.#lost = new EventsLost(`More than ${MAX_UNREAD} characters of events were left unread`);
    void this.return();
  }

  /** Once: after that the stream has ended, as after any other failure of an iterator. */
  #fail(error: EventsLost): Promise<never> {
    this.#lost = undefined;
    return Promise.reject(error);
  }

  #forget(): void {
    this.#arrived = [];
    this.#reversed = [];
    this.#unread = 0;
  }
}
