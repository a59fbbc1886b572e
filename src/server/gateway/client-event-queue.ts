import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { joinDeltas } from '../../wire/assistant-message.ts';
import { type Dialect, formatUpdate, legacyEvents } from '../../wire/dialect.ts';
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import { SessionRecord } from '../session-record.ts';

// Bytes in the socket beyond which records wait here, where they can be merged.
const MAX_IN_SOCKET = 256 * 1024;

// Session records that may wait for a slow client, enough for some images. Beyond it, the client is disconnected.
export const MAX_QUEUED_EVENT_BYTES = 16 * 1024 * 1024;

// All bytes that may wait for a client before a response overflows the queue.
export const MAX_CLIENT_BACKLOG = 64 * 1024 * 1024;

// The cost of a queued record beside its text.
const ITEM_COST = 128;

const MIN_UPDATE_SPACING_MS = 16;
const UPDATE_BYTES_PER_MS = 4 * 1024;

export interface ByteSink {
  readonly bufferedAmount: number;
  send(bytes: Buffer, sent?: () => void): void;
}

interface ClientEventQueueOptions {
  // Another encoding for records that this client may see only in part.
  readonly formFor: (record: SessionRecord) => { readonly name: string; readonly make: () => object } | undefined;
  // The client is too far behind; the queue is closed.
  readonly onOverflow: () => void;
  // The socket has sent its buffered bytes.
  readonly onDrained: () => void;
}

interface QueuedItem {
  readonly payload: SessionRecord | Buffer;
  size: number;
}

interface Merge {
  // The item that leaves the queue,
  readonly item: QueuedItem;
  // the record that replaces it,
  readonly merged: SessionRecord;
  // and the size it adds to that of the new record.
  readonly size: number;
}

/**
 * The event queue of one client.
 *
 * Records are sent at once while the client keeps up, as the same bytes to every client. Behind a slow client, queued
 * deltas of one block are merged and older progress of a tool is dropped.
 */
export class ClientEventQueue {
  dialect: Dialect;
  readonly #sink: ByteSink;
  readonly #options: ClientEventQueueOptions;
  #items: QueuedItem[] = [];
  /** Bytes of all queued items, and of the session records among them. */
  #queuedBytes = 0;
  #queuedEventBytes = 0;
  /** Whether the socket has yet to send its buffered bytes. */
  #isBlocked = false;
  #isClosed = false;
  #resumeAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: ByteSink, dialect: Dialect, options: ClientEventQueueOptions) {
    this.#sink = sink;
    this.dialect = dialect;
    this.#options = options;
  }

  get backlog(): number {
    return this.#queuedBytes + this.#sink.bufferedAmount;
  }

  /** Sends text in order; it is never merged or dropped. */
  send(text: string): void {
    if (this.#isClosed) return;
    const bytes = Buffer.from(text);
    if (this.#flushPaced()) this.#write(bytes);
    else if (this.backlog > MAX_CLIENT_BACKLOG) this.#overflow();
    else this.#queue(bytes, bytes.length);
  }

  /** Sends a closing message even to a blocked client. Queued items are lost. */
  sendFinal(event: AgentEvent): void {
    if (this.#isClosed) return;
    this.#flushPaced();
    this.#sink.send(Buffer.from(escapeLineBreaks(JSON.stringify(event))));
  }

  publish(record: SessionRecord): void {
    if (this.#isClosed) return;
    const isPaced = this.dialect.stream === 'cumulative' && isDelta(record.event);
    if (isPaced ? !this.#mustWait && this.#items.length === 0 : this.#flushPaced()) this.#sendRecord(record);
    else this.#hold(record);
    for (const twin of legacyEvents(this.dialect, record.event)) this.publish(new SessionRecord(twin));
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#items = [];
  }

  get #mustWait(): boolean {
    return this.#isBlocked || performance.now() < this.#resumeAt;
  }

  /** Sends items that wait only for their pace; returns whether the queue is empty. */
  #flushPaced(): boolean {
    if (this.#isBlocked) return false;
    this.#resumeAt = 0;
    this.#flush();
    return this.#items.length === 0;
  }

  #hold(record: SessionRecord): void {
    const merge = this.#mergeIntoLast(record) ?? this.#supersededProgress(record);
    if (merge) this.#drop(merge.item);
    this.#queue(merge?.merged ?? record, record.bytes.length + ITEM_COST + (merge?.size ?? 0));
    if (this.#queuedEventBytes > MAX_QUEUED_EVENT_BYTES) this.#overflow();
    else if (!this.#isBlocked) this.#timer ??= setTimeout(() => this.#onTimer(), this.#resumeAt - performance.now());
  }

  #overflow(): void {
    this.#options.onOverflow();
    this.close();
  }

  #queue(payload: QueuedItem['payload'], size: number): void {
    if (this.#isClosed) return;
    this.#items.push({ payload, size });
    this.#addSize(payload, size);
  }

  #drop(item: QueuedItem): void {
    this.#items.splice(this.#items.lastIndexOf(item), 1);
    this.#addSize(item.payload, -item.size);
  }

  #addSize(payload: QueuedItem['payload'], size: number): void {
    this.#queuedBytes += size;
    if (payload instanceof SessionRecord) this.#queuedEventBytes += size;
  }

  /** Merges the record into the last queued one if it only extends that. */
  #mergeIntoLast({ event, ...rest }: SessionRecord): Merge | undefined {
    const item = this.#items.at(-1);
    const before = item?.payload;
    if (!item || !(before instanceof SessionRecord) || before.event.type !== 'message_update') return undefined;
    const both = event.type === 'message_update' && joinDeltas(before.event, event);
    return both ? { item, merged: new SessionRecord(both, rest), size: item.size - ITEM_COST } : undefined;
  }

  /** The queued progress of the same tool, which the record replaces. */
  #supersededProgress(record: SessionRecord): Merge | undefined {
    const { event } = record;
    if (event.type !== 'tool_execution_update') return undefined;
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index] as QueuedItem;
      if (!(item.payload instanceof SessionRecord) || item.payload.event.type !== event.type) return undefined;
      if (item.payload.event.toolCallId === event.toolCallId) return { item, merged: record, size: 0 };
    }
    return undefined;
  }

  #onTimer(): void {
    this.#timer = undefined;
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let sent = 0;
    while (sent < this.#items.length && !this.#mustWait) {
      const { payload, size } = this.#items[sent++] as QueuedItem;
      this.#addSize(payload, -size);
      if (payload instanceof SessionRecord) this.#sendRecord(payload);
      else this.#write(payload);
    }
    this.#items.splice(0, sent);
    if (this.#items.length > 0 && !this.#isBlocked)
      this.#timer = setTimeout(() => this.#onTimer(), this.#resumeAt - performance.now());
  }

  #sendRecord(record: SessionRecord): void {
    const bytes = this.#bytesOf(record);
    this.#write(bytes);
    if (this.dialect.stream === 'cumulative' && isDelta(record.event)) {
      this.#resumeAt = performance.now() + Math.max(MIN_UPDATE_SPACING_MS, bytes.length / UPDATE_BYTES_PER_MS);
    }
  }

  #bytesOf(record: SessionRecord): Buffer {
    const { event, messageSoFar } = record;
    if (event.type === 'message_update' && this.dialect.stream === 'cumulative' && messageSoFar) {
      return record.encodedAs('cumulative', () => formatUpdate(this.dialect, event, messageSoFar));
    }
    const form = this.#options.formFor(record);
    return form ? record.encodedAs(form.name, form.make) : record.bytes;
  }

  #write(bytes: Buffer): void {
    if (this.#isClosed) return;
    if (this.#sink.bufferedAmount + bytes.length <= MAX_IN_SOCKET) {
      this.#sink.send(bytes);
      return;
    }
    this.#isBlocked = true;
    this.#sink.send(bytes, () => {
      this.#isBlocked = false;
      this.#flush();
      this.#options.onDrained();
    });
  }
}

const isDelta = (event: AgentEvent) => event.type === 'message_update' && 'delta' in event.assistantMessageEvent;
