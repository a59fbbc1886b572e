import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { type Dialect, legacyEvents, formatUpdate } from '../../wire/dialect.ts';
import { joinDeltas } from '../../wire/assistant-message.ts';
import { escapeLineBreaks } from '../../wire/json-lines.ts';
import { SessionRecord } from '../hosting/session-record.ts';

/** Bytes that the socket may hold before what comes next waits here, where it can be merged. */
const MAX_IN_SOCKET = 256 * 1024;

/** Bytes of what happens in a session that may wait for a slow client: a few pictures. Then it has to come again. */
export const MAX_BEHIND = 16 * 1024 * 1024;

/** Bytes that may wait for a client, whatever they are, when something is to wait behind them. */
export const MAX_BACKLOG = 64 * 1024 * 1024;

/** What a record that waits costs beside its text. */
const ITEM_COST = 128;

const MIN_SPACING_MS = 16;
const BYTES_PER_MS = 4 * 1024;

/** Where bytes go. */
export interface Sink {
  readonly bufferedAmount: number;
  send(bytes: Buffer, sent?: () => void): void;
}

interface OutletOptions {
  /** Another form for records of which this client may not know everything. */
  readonly form: (record: SessionRecord) => { readonly name: string; readonly make: () => object } | undefined;
  /** It is too far behind: nothing more will be told. */
  readonly onOverflow: () => void;
  /** It has taken what the socket had for it. */
  readonly onRoom: () => void;
}

/** Something that waits. */
interface Item {
  readonly what: SessionRecord | Buffer;
  size: number;
}

interface Merge {
  /** What is not sent any more, */
  readonly item: Item;
  /** because this is. */
  readonly merged: SessionRecord;
  /** What that costs beside the new one. */
  readonly size: number;
}

/**
 * The way out to one client. What it can take leaves at once, as the same bytes for everybody. When it is behind, what
 * waits is merged: deltas of one block become one, and the progress of a tool is what was said last.
 */
export class Outlet {
  dialect: Dialect;
  readonly #sink: Sink;
  readonly #options: OutletOptions;
  #items: Item[] = [];
  /** Bytes of all of them, and of session records among them. */
  #waiting = 0;
  #behind = 0;
  /** The socket will tell when it has taken what it has. */
  #isBlocked = false;
  #isOver = false;
  #quietUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sink: Sink, dialect: Dialect, options: OutletOptions) {
    this.#sink = sink;
    this.dialect = dialect;
    this.#options = options;
  }

  /** Bytes that the client has not taken yet. */
  get backlog(): number {
    return this.#waiting + this.#sink.bufferedAmount;
  }

  /** Sends something that waits for its turn, but is neither merged nor left out. */
  send(text: string): void {
    if (this.#isOver) return;
    const bytes = Buffer.from(text);
    if (this.#flushes()) this.#write(bytes);
    else if (this.backlog > MAX_BACKLOG) this.#giveUp();
    else this.#queue(bytes, bytes.length);
  }

  /** Sends the last words, even where the client takes nothing. What still waits is lost on it. */
  last(event: AgentEvent): void {
    if (this.#isOver) return;
    this.#flushes();
    this.#sink.send(Buffer.from(escapeLineBreaks(JSON.stringify(event))));
  }

  /** Tells what happens in the session. */
  hear(record: SessionRecord): void {
    if (this.#isOver) return;
    const isPaced = this.dialect.stream === 'cumulative' && isDelta(record.event);
    if (isPaced ? !this.#isHeldUp && this.#items.length === 0 : this.#flushes()) this.#tell(record);
    else this.#wait(record);
    for (const twin of legacyEvents(this.dialect, record.event)) this.hear(new SessionRecord(twin));
  }

  /** Forgets what waits: the client is gone. */
  close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#items = [];
  }

  get #isHeldUp(): boolean {
    return this.#isBlocked || performance.now() < this.#quietUntil;
  }

  /** Sends what waits only for its time; whether nothing waits any more. */
  #flushes(): boolean {
    if (this.#isBlocked) return false;
    this.#quietUntil = 0;
    this.#flush();
    return this.#items.length === 0;
  }

  #wait(record: SessionRecord): void {
    const other = this.#lastWith(record) ?? this.#progressBefore(record);
    if (other) this.#drop(other.item);
    this.#queue(other?.merged ?? record, record.bytes.length + ITEM_COST + (other?.size ?? 0));
    if (this.#behind > MAX_BEHIND) this.#giveUp();
    else if (!this.#isBlocked) this.#timer ??= setTimeout(() => this.#onTime(), this.#quietUntil - performance.now());
  }

  #giveUp(): void {
    this.#options.onOverflow();
    this.close();
  }

  #queue(what: Item['what'], size: number): void {
    if (this.#isOver) return;
    this.#items.push({ what, size });
    this.#count(what, size);
  }

  #drop(item: Item): void {
    this.#items.splice(this.#items.lastIndexOf(item), 1);
    this.#count(item.what, -item.size);
  }

  #count(what: Item['what'], size: number): void {
    this.#waiting += size;
    if (what instanceof SessionRecord) this.#behind += size;
  }

  /** The last that waits, if the record only adds to it. */
  #lastWith({ event, ...rest }: SessionRecord): Merge | undefined {
    const item = this.#items.at(-1);
    const before = item?.what;
    if (!item || !(before instanceof SessionRecord) || before.event.type !== 'message_update') return undefined;
    const both = event.type === 'message_update' && joinDeltas(before.event, event);
    return both ? { item, merged: new SessionRecord(both, rest), size: item.size - ITEM_COST } : undefined;
  }

  /** What a tool said before, among what waits at the end: the record says all of it, and more. */
  #progressBefore(record: SessionRecord): Merge | undefined {
    const { event } = record;
    if (event.type !== 'tool_execution_update') return undefined;
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index] as Item;
      if (!(item.what instanceof SessionRecord) || item.what.event.type !== event.type) return undefined;
      if (item.what.event.toolCallId === event.toolCallId) return { item, merged: record, size: 0 };
    }
    return undefined;
  }

  #onTime(): void {
    this.#timer = undefined;
    this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let sent = 0;
    while (sent < this.#items.length && !this.#isHeldUp) {
      const { what, size } = this.#items[sent++] as Item;
      this.#count(what, -size);
      if (what instanceof SessionRecord) this.#tell(what);
      else this.#write(what);
    }
    this.#items.splice(0, sent);
    if (this.#items.length > 0 && !this.#isBlocked)
      this.#timer = setTimeout(() => this.#onTime(), this.#quietUntil - performance.now());
  }

  #tell(record: SessionRecord): void {
    const bytes = this.#bytesOf(record);
    this.#write(bytes);
    if (this.dialect.stream === 'cumulative' && isDelta(record.event)) {
      this.#quietUntil = performance.now() + Math.max(MIN_SPACING_MS, bytes.length / BYTES_PER_MS);
    }
  }

  #bytesOf(record: SessionRecord): Buffer {
    const { event, snapshot } = record;
    if (event.type === 'message_update' && this.dialect.stream === 'cumulative' && snapshot) {
      return record.inForm('cumulative', () => formatUpdate(this.dialect, event, snapshot));
    }
    const form = this.#options.form(record);
    return form ? record.inForm(form.name, form.make) : record.bytes;
  }

  #write(bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#sink.bufferedAmount + bytes.length <= MAX_IN_SOCKET) {
      this.#sink.send(bytes);
      return;
    }
    this.#isBlocked = true;
    this.#sink.send(bytes, () => {
      this.#isBlocked = false;
      this.#flush();
      this.#options.onRoom();
    });
  }
}

const isDelta = (event: AgentEvent) => event.type === 'message_update' && 'delta' in event.assistantMessageEvent;
