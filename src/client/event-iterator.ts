import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import type { EventConsumer } from './event-consumer.ts';

/** Text of events that may wait in an iterator for whoever reads it. */
export const MAX_UNREAD_CHARACTERS = 64 * 1024 * 1024;

/** Nobody read an iterator while more events came than it keeps. They are let go, and it ends. */
export class EventsLost extends Error {
  override readonly name = 'EventsLost';
}

interface UnreadEvent {
  readonly event: AgentEvent;
  readonly length: number;
}

const finished: IteratorResult<AgentEvent> = { done: true, value: undefined };

/** Events for a reader who takes them one by one. One who does not costs bounded memory. */
export class EventIterator implements AsyncIterableIterator<AgentEvent>, EventConsumer {
  readonly #onReturn: (stream: EventIterator) => void;
  readonly #pendingReads: ((result: IteratorResult<AgentEvent>) => void)[] = [];
  #incoming: UnreadEvent[] = [];
  /** The next one is the last: taking the first of a long list takes long. */
  #reversedQueue: UnreadEvent[] = [];
  #unreadCharacters = 0;
  #ended = false;
  #overflowError: EventsLost | undefined;

  /** `leave` is called when the stream does not want to hear more. */
  constructor(onReturn: (stream: EventIterator) => void) {
    this.#onReturn = onReturn;
  }

  push(event: AgentEvent, length: number): void {
    const resolve = this.#pendingReads.shift();
    if (resolve) resolve({ done: false, value: event });
    else if (this.#unreadCharacters > MAX_UNREAD_CHARACTERS) this.#overflow();
    else {
      this.#incoming.push({ event, length });
      this.#unreadCharacters += length;
    }
  }

  onSnapshotEnd(): void {}

  end(): void {
    this.#ended = true;
    for (const resolve of this.#pendingReads.splice(0)) resolve(finished);
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#overflowError) return this.#rejectOnce(this.#overflowError);
    const event = this.#take();
    if (event) return Promise.resolve({ done: false, value: event });
    if (this.#ended) return Promise.resolve(finished);
    return new Promise((resolve) => this.#pendingReads.push(resolve));
  }

  return(): Promise<IteratorResult<AgentEvent>> {
    this.#onReturn(this);
    this.#clear();
    this.end();
    return Promise.resolve(finished);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): AgentEvent | undefined {
    if (this.#reversedQueue.length === 0) {
      this.#reversedQueue = this.#incoming.reverse();
      this.#incoming = [];
    }
    const next = this.#reversedQueue.pop();
    this.#unreadCharacters -= next?.length ?? 0;
    return next?.event;
  }

  #overflow(): void {
    this.#overflowError = new EventsLost(`More than ${MAX_UNREAD_CHARACTERS} characters of events were left unread`);
    void this.return();
  }

  /** Once: after that the stream has ended, as after any other failure of an iterator. */
  #rejectOnce(error: EventsLost): Promise<never> {
    this.#overflowError = undefined;
    return Promise.reject(error);
  }

  #clear(): void {
    this.#incoming = [];
    this.#reversedQueue = [];
    this.#unreadCharacters = 0;
  }
}
