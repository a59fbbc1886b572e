import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { type Dialect, legacyEvents, formatUpdate } from '../../wire/dialect.ts';
import { joinDeltas } from '../../wire/assistant-message.ts';
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import { SessionRecord } from '../session-record.ts';

/** Bytes that the socket may hold before what comes next waits here, where it can be merged. */
const MAX_IN_SOCKET = 256 * 1024;

/** Bytes of what happens in a session that may wait for a slow client: a few pictures. Then it has to come again. */
export const MAX_QUEUED_EVENT_BYTES = 16 * 1024 * 1024;

/** Bytes that may wait for a client, whatever they are, when something is to wait behind them. */
export const MAX_CLIENT_BACKLOG = 64 * 1024 * 1024;

/** What a record that waits costs beside its text. */
const ITEM_COST = 128;

const MIN_UPDATE_SPACING_MS = 16;
const UPDATE_BYTES_PER_MS = 4 * 1024;

/** Where bytes go. */
export interface ByteSink {
  readonly bufferedAmount: number;
  send(bytes: Buffer, sent?: () => void): void;
}

interface ClientEventQueueOptions {
  /** Another form for records of which this client may not know everything. */
  readonly formFor: (record: SessionRecord) => { readonly name: string; readonly make: () => object } | undefined;
  /** It is too far behind: nothing more will be told. */
  readonly onOverflow: () => void;
  /** It has taken what the socket had for it. */
  readonly onDrained: () => void;
}

/** Something that waits. */
interface QueuedItem {
  readonly payload: SessionRecord | Buffer;
  size: number;
}

interface Merge {
  /** What is not sent any more, */
  readonly item: QueuedItem;
  /** because this is. */
  readonly merged: SessionRecord;
  /** What that costs beside the new one. */
  readonly size: number;
}

/**
 * The way out to one client. What it can take leaves at once, as the same bytes for everybody. When it is behind, what
 * waits is merged: deltas of one block become one, and the progress of a tool is what was said last.
 */
export class ClientEventQueue {
  dialect: Dialect;
  readonly #sink: ByteSink;
  readonly #options: ClientEventQueueOptions;
  #items: QueuedItem[] = [];
  /** Bytes of all of them, and of session records among them. */
  #queuedBytes = 0;
  #queuedEventBytes = 0;
  /** The socket will tell when it has taken what it has. */
  #isBlocked = false;
  #isClosed = false;
  #resumeAt = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: ByteSink, dialect: Dialect, options: ClientEventQueueOptions) {
    this.#sink = sink;
    this.dialect = dialect;
    this.#options = options;
  }

  /** Bytes that the client has not taken yet. */
  get backlog(): number {
    return this.#queuedBytes + this.#sink.bufferedAmount;
  }

  /** Sends something that waits for its turn, but is neither merged nor left out. */
  send(text: string): void {
    if (this.#isClosed) return;
    const bytes = Buffer.from(text);
    if (this.#flushPaced()) this.#write(bytes);
    else if (this.backlog > MAX_CLIENT_BACKLOG) this.#overflow();
    else this.#queue(bytes, bytes.length);
  }

  /** Sends the last words, even where the client takes nothing. What still waits is lost on it. */
  sendFinal(event: AgentEvent): void {
    if (this.#isClosed) return;
    this.#flushPaced();
    this.#sink.send(Buffer.from(escapeLineBreaks(JSON.stringify(event))));
  }

  /** Tells what happens in the session. */
  publish(record: SessionRecord): void {
    if (this.#isClosed) return;
    const isPaced = this.dialect.stream === 'cumulative' && isDelta(record.event);
    if (isPaced ? !this.#mustWait && this.#items.length === 0 : this.#flushPaced()) this.#sendRecord(record);
    else this.#hold(record);
    for (const twin of legacyEvents(this.dialect, record.event)) this.publish(new SessionRecord(twin));
  }

  /** Forgets what waits: the client is gone. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#items = [];
  }

  get #mustWait(): boolean {
    return this.#isBlocked || performance.now() < this.#resumeAt;
  }

  /** Sends what waits only for its time; whether nothing waits any more. */
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

  /** The last that waits, if the record only adds to it. */
  #mergeIntoLast({ event, ...rest }: SessionRecord): Merge | undefined {
    const item = this.#items.at(-1);
    const before = item?.payload;
    if (!item || !(before instanceof SessionRecord) || before.event.type !== 'message_update') return undefined;
    const both = event.type === 'message_update' && joinDeltas(before.event, event);
    return both ? { item, merged: new SessionRecord(both, rest), size: item.size - ITEM_COST } : undefined;
  }

  /** What a tool said before, among what waits at the end: the record says all of it, and more. */
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
