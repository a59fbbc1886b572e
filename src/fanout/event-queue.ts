import { joinToolUpdates } from '../protocol/events/tool-output.ts';
import type { AgentEvent, AssistantMessage, ToolExecutionUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { joinDeltas } from '../wire/assistant-message.ts';
import { type Dialect, legacyEvents } from '../wire/dialect.ts';

// The first delta of a burst is written at once; the next one after this pause, or longer where the record is large.
const MIN_SPACING_MS = 16;
const BYTES_PER_MS = 4 * 1024;

// So many deltas of a block are not spaced, unless they repeat a large message: a short answer arrives in its chunks.
const UNSPACED_DELTAS = 32;
const MAX_UNSPACED_LENGTH = 16 * 1024;

// A series is written in slices of this size, so that other work gets its turn.
const SERIES_SLICE = 256 * 1024;

/** An event on its way to one reader; `snapshot` is the assistant message after a streaming step. */
export interface QueuedEvent {
  readonly event: AgentEvent;
  readonly snapshot?: AssistantMessage | undefined;
}

/** The writing side of a connection. `write` returns false when the reader is behind; later `onDrain` reports that it caught up. */
export interface PayloadSink<P> {
  write(payload: P): boolean;
  onDrain(listener: () => void): void;
}

/** Limits of a queue. Over them the producer waits for `drained()`, or `onOverflow` disconnects the reader. */
export type OverflowPolicy =
  | { readonly kind: 'pause'; readonly maxBacklog: number; readonly maxUpdates: number }
  | {
      readonly kind: 'disconnect';
      /** Limit of the events alone. */
      readonly maxEvents: number;
      /** Limit of events and responses together. */
      readonly maxBacklog: number;
      readonly onOverflow: () => void;
    };

export interface EventQueueOptions<E extends QueuedEvent, P> {
  readonly policy: OverflowPolicy;
  /** Makes the queued form of an event; `like` is the event it was merged from. */
  readonly wrap: (event: AgentEvent, like?: E) => E;
  readonly encode: (queued: E, dialect: Dialect) => P;
  /** Cost of an update that waits; everything else costs the length of its payload. */
  readonly costOf: (queued: E) => number;
  /** Cost of each event that waits beside its text; merged events are one. */
  readonly itemCost: number;
  /** Whether consecutive events of this kind keep `MIN_SPACING_MS` between them. */
  readonly isPaced: (event: AgentEvent, dialect: Dialect) => boolean;
  readonly onDrained?: () => void;
}

type Item<E, P> =
  | { readonly kind: 'update'; readonly queued: E; readonly cost: number }
  | { readonly kind: 'payload'; readonly payload: P; readonly cost: number; readonly isEvent: boolean }
  | { readonly kind: 'series'; readonly payloads: Iterator<P>; readonly end: () => void; readonly cost: 0 };

/**
 * The records that one reader has not taken yet, in order. Deltas of one block and updates of one tool merge while they
 * wait, so that a fast model costs a slow reader neither memory nor quadratic traffic.
 */
export class EventQueue<E extends QueuedEvent, P extends { readonly length: number }> {
  dialect: Dialect;
  readonly #sink: PayloadSink<P>;
  readonly #options: EventQueueOptions<E, P>;
  #items: Item<E, P>[] = [];
  #cost = 0;
  #eventCost = 0;
  #updates = 0;
  /** Length of the payloads that the sink has accepted and not passed on. */
  #inFlight = 0;
  #isBlocked = false;
  #isClosed = false;
  #quietUntil = 0;
  /** Deltas of this block that may still be written without spacing. */
  #unspaced = UNSPACED_DELTAS;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiters: (() => void)[] = [];

  constructor(sink: PayloadSink<P>, dialect: Dialect, options: EventQueueOptions<E, P>) {
    this.#sink = sink;
    this.dialect = dialect;
    this.#options = options;
    sink.onDrain(() => this.#onDrain());
  }

  /** Size of everything that waits because the reader is behind. */
  get backlog(): number {
    return this.#isBlocked ? this.#cost : 0;
  }

  /** Size of everything that waits here, and of the payloads in the sink since it is blocked. */
  get unread(): number {
    return this.#inFlight + this.#cost;
  }

  /** Whether the producer has to wait for `drained()`. */
  get isFull(): boolean {
    const { policy } = this.#options;
    if (this.#isClosed || policy.kind !== 'pause') return false;
    return this.unread > policy.maxBacklog || (this.#isBlocked && this.#updates > policy.maxUpdates);
  }

  /** Undefined while the queue has room; otherwise settles when the reader has caught up by half, or is closed. */
  drained(): Promise<void> | undefined {
    return this.isFull ? new Promise((resolve) => this.#waiters.push(resolve)) : undefined;
  }

  /** Queues an event, followed by its legacy forms where the dialect has them. */
  publish(queued: E): void {
    if (this.#isClosed) return;
    const { event } = queued;
    const isPaced = this.#options.isPaced(event, this.dialect);
    if (!isPaced) this.#writeAll();
    if (startsBlock(event)) {
      this.#unspaced = UNSPACED_DELTAS;
      this.#quietUntil = 0;
    }
    if (this.#isIdle && (!isPaced || performance.now() >= this.#quietUntil)) this.#writeEvent(queued, { isPaced });
    else if (isUpdate(event)) this.#holdUpdate(queued);
    else this.#holdEvent(queued);
    for (const twin of legacyEvents(this.dialect, event)) this.publish(this.#options.wrap(twin));
  }

  /** Queues a payload that is never merged or dropped. */
  send(payload: P): void {
    if (this.#isClosed) return;
    this.#writeAll();
    const { policy } = this.#options;
    if (this.#isIdle) this.#write(payload);
    else if (policy.kind === 'disconnect' && this.unread > policy.maxBacklog) this.#overflow(policy.onOverflow);
    else this.#add({ kind: 'payload', payload, cost: payload.length, isEvent: false });
  }

  /** Writes a last payload even where the reader is behind; what still waits is lost. */
  sendLast(payload: P): void {
    if (this.#isClosed) return;
    this.#writeAll();
    this.#sink.write(payload);
  }

  /**
   * Queues a series of payloads. Each is produced when the reader has taken the one before. Settles when the last one is
   * written, or the queue is closed.
   */
  sendSeries(payloads: Iterable<P>): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#items.push({ kind: 'series', payloads: payloads[Symbol.iterator](), end: resolve, cost: 0 });
      this.#writeAll();
    });
  }

  /** Writes what waits for its time; settles when the sink has accepted everything, or the queue is closed. */
  async flush(): Promise<void> {
    this.#writeAll();
    while (!this.#isClosed && this.#items.length > 0) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  /** Drops everything that waits. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const item of this.#items) if (item.kind === 'series') item.end();
    this.#items = [];
    this.#cost = 0;
    this.#inFlight = 0;
    this.#wake();
  }

  /** Whether nothing waits and the sink accepts more. */
  get #isIdle(): boolean {
    return !this.#isBlocked && this.#items.length === 0;
  }

  #holdEvent(queued: E): void {
    const payload = this.#options.encode(queued, this.dialect);
    this.#add({ kind: 'payload', payload, cost: payload.length, isEvent: true });
  }

  #pacedUntil(event: AgentEvent): number {
    return this.#options.isPaced(event, this.dialect) ? this.#quietUntil : 0;
  }

  #holdUpdate(queued: E): void {
    this.#add(this.#merged(queued));
    if (!this.#isBlocked && !this.#isClosed) this.#schedule();
  }

  /** Takes the update that this one continues or replaces out of the queue, and returns both as one. */
  #merged(queued: E): Item<E, P> {
    const { event } = queued;
    if (event.type === 'tool_execution_update') return this.#mergedToolUpdate(queued, event);
    const cost = this.#options.costOf(queued);
    const last = this.#items.at(-1);
    if (event.type !== 'message_update' || last?.kind !== 'update' || last.queued.event.type !== event.type) {
      return { kind: 'update', queued, cost };
    }
    const both = joinDeltas(last.queued.event, event);
    if (!both) return { kind: 'update', queued, cost };
    this.#remove(this.#items.length - 1);
    return { kind: 'update', queued: this.#options.wrap(both, queued), cost: last.cost + cost };
  }

  /** An update of a tool carries all of its progress: only the newest is sent, with all new text in delta form. */
  #mergedToolUpdate(queued: E, event: ToolExecutionUpdateEvent): Item<E, P> {
    const waiting = this.#takeUpdateOf(event.toolCallId);
    const kept = waiting && this.dialect.toolOutput !== 'cumulative' ? joinToolUpdates(waiting, event) : event;
    const update = kept === event ? queued : this.#options.wrap(kept, queued);
    return { kind: 'update', queued: update, cost: this.#options.costOf(update) };
  }

  #takeUpdateOf(toolCallId: string): ToolExecutionUpdateEvent | undefined {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index];
      if (item?.kind !== 'update') return undefined;
      const { event } = item.queued;
      if (event.type !== 'tool_execution_update' || event.toolCallId !== toolCallId) continue;
      this.#remove(index);
      return event;
    }
    return undefined;
  }

  #add(item: Item<E, P>): void {
    this.#items.push(item);
    this.#count(item, 1);
    const { policy } = this.#options;
    if (policy.kind === 'disconnect' && this.#eventCost > policy.maxEvents) this.#overflow(policy.onOverflow);
  }

  #remove(index: number): void {
    for (const item of this.#items.splice(index, 1)) this.#count(item, -1);
  }

  #count(item: Item<E, P>, sign: 1 | -1): void {
    const isEvent = item.kind === 'update' || (item.kind === 'payload' && item.isEvent);
    const cost = isEvent ? item.cost + this.#options.itemCost : item.cost;
    this.#cost += sign * cost;
    if (isEvent) this.#eventCost += sign * cost;
    if (item.kind === 'update') this.#updates += sign;
  }

  #overflow(onOverflow: () => void): void {
    onOverflow();
    this.close();
  }

  #schedule(): void {
    if (this.#timer) return;
    this.#timer = setTimeout(() => this.#writeInTime(), Math.max(0, this.#quietUntil - performance.now()));
  }

  /** Writes what waits, unless all of it is paced and its time has not come. */
  #writeInTime(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const isHeld = this.#items.every(
      (item) => item.kind === 'update' && performance.now() < this.#pacedUntil(item.queued.event),
    );
    if (this.#items.length > 0 && isHeld) this.#schedule();
    else this.#writeAll();
  }

  /** Writes everything that the sink accepts, without waiting for its time. */
  #writeAll(): void {
    if (this.#isBlocked || this.#items.length === 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let written = 0;
    for (; written < this.#items.length && !this.#isBlocked; written++) {
      const item = this.#items[written] as Item<E, P>;
      if (item.kind === 'series' && !this.#advance(item)) break;
      this.#count(item, -1);
      if (item.kind === 'update') this.#writeUpdate(item.queued);
      else if (item.kind === 'payload') this.#write(item.payload);
    }
    this.#items.splice(0, written);
    if (this.#items.length === 0 && !this.#isBlocked) this.#wake();
  }

  #writeUpdate(queued: E): void {
    this.#writeEvent(queued, { isPaced: this.#options.isPaced(queued.event, this.dialect) });
  }

  #writeEvent(queued: E, { isPaced }: { readonly isPaced: boolean }): void {
    const payload = this.#options.encode(queued, this.dialect);
    this.#write(payload);
    if (isPaced) this.#quietUntil = performance.now() + this.#spacingAfter(queued.event, payload.length);
  }

  #spacingAfter({ type }: AgentEvent, length: number): number {
    const isUnspaced = type === 'message_update' && this.#unspaced > 0 && length <= MAX_UNSPACED_LENGTH;
    if (!isUnspaced) return Math.max(MIN_SPACING_MS, length / BYTES_PER_MS);
    this.#unspaced -= 1;
    return 0;
  }

  #write(payload: P): void {
    this.#isBlocked = !this.#sink.write(payload);
    this.#inFlight = this.#isBlocked ? this.#inFlight + payload.length : 0;
  }

  /** Writes as much of a series as the sink accepts, one slice at most; returns true when nothing is left of it. */
  #advance({ payloads, end }: Extract<Item<E, P>, { kind: 'series' }>): boolean {
    for (let written = 0; !this.#isBlocked; ) {
      const { value, done } = payloads.next();
      if (done) {
        end();
        return true;
      }
      written += value.length;
      this.#write(value);
      if (this.#isBlocked || written < SERIES_SLICE) continue;
      this.#isBlocked = true;
      setTimeout(() => this.#onDrain());
    }
    return false;
  }

  #onDrain(): void {
    if (this.#isClosed) return;
    this.#isBlocked = false;
    this.#inFlight = 0;
    this.#writeInTime();
    const { policy } = this.#options;
    if (policy.kind === 'disconnect' || this.#cost <= policy.maxBacklog / 2) this.#wake();
    this.#options.onDrained?.();
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

const startsBlock = (event: AgentEvent) =>
  event.type === 'message_update' && /_start$/.test(event.assistantMessageEvent.type);

const isUpdate = ({ type }: AgentEvent) => type === 'message_update' || type === 'tool_execution_update';
