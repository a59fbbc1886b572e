import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import type { ConnectionLost } from './errors.ts';

/** An iterator ends once its unread events hold more text than this. */
export const MAX_UNREAD_CHARACTERS = 64 * 1024 * 1024;

/** The iterator of `events()` was read too slowly: its unread events are dropped, and it ends. */
export class EventsLost extends Error {
  override readonly name = 'EventsLost';
}

interface UnreadEvent {
  readonly event: AgentEvent;
  readonly length: number;
}

const finished: IteratorResult<AgentEvent> = { done: true, value: undefined };

/** An async iterator over events that buffers a bounded amount of unread ones. */
export class EventIterator implements AsyncIterableIterator<AgentEvent>, EventConsumer {
  readonly #onReturn: (stream: EventIterator) => void;
  readonly #pendingReads: ((result: IteratorResult<AgentEvent>) => void)[] = [];
  #incoming: UnreadEvent[] = [];
  /** Unread events, the next one last: shifting a long array is slow. */
  #reversedQueue: UnreadEvent[] = [];
  #unreadCharacters = 0;
  #ended = false;
  #overflowError: EventsLost | undefined;

  /** `onReturn` is called when the iterator ends early. */
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

  /** Rejects one read; the reads after it get the end of the iterator. */
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

/** Buffers events, and bounds its memory by the length of their lines. */
export interface EventConsumer {
  /** `length` is the length of the line that carried the event. */
  push(event: AgentEvent, length: number): void;
  /** All records of a snapshot have arrived. */
  onSnapshotEnd(): void;
  /** The connection ended. */
  end(reason: ConnectionLost): void;
}
