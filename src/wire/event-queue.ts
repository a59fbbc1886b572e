import type {
  AgentEvent,
  AssistantMessage,
  MessageUpdateEvent,
  ToolExecutionUpdateEvent,
} from '../protocol/generated/vocabulary.ts';
import { joinDeltas } from './assistant-message.ts';
import { type Dialect, formatUpdate, legacyEvents } from './dialect.ts';
import { toLine } from './json-lines.ts';
import type { Link } from './link.ts';

// Characters that may wait for a slow reader before the run pauses.
export const MAX_BACKLOG = 1024 * 1024;

// Updates that may wait unmerged for a slow reader: each may repeat the whole message so far.
const MAX_UPDATES = 8;

// Characters of lazy lines that are written before other work runs.
const LINES_SLICE = 256 * 1024;

const MIN_SPACING_MS = 16;
const BYTES_PER_MS = 4 * 1024;

type Update = MessageUpdate | ToolUpdate;
interface MessageUpdate {
  record: MessageUpdateEvent;
  snapshot: AssistantMessage;
}
interface ToolUpdate {
  record: ToolExecutionUpdateEvent;
}

// Lines that are generated only as fast as the reader takes them.
interface LazyLines {
  readonly lines: Iterator<string>;
  readonly end: () => void;
}

/**
 * Queues records for one reader in order. The first delta of a burst is sent at once; the following ones merge for a
 * short time, so that a fast model costs a slow reader neither memory nor quadratic traffic.
 */
export class EventQueue {
  dialect: Dialect;
  readonly #link: Pick<Link, 'write' | 'onDrain'>;
  #lines: (string | LazyLines)[] = [];
  #updates: Update[] = [];
  /** Characters of the deltas in `#updates`. */
  #deltaCharacters = 0;
  #backlog = 0;
  /** Characters that the link has accepted and not yet passed on. */
  #inFlight = 0;
  #blocked = false;
  #closed = false;
  #nextDeltaAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waiters: (() => void)[] = [];

  constructor(link: Pick<Link, 'write' | 'onDrain'>, dialect: Dialect) {
    this.#link = link;
    this.dialect = dialect;
    link.onDrain(() => this.#onDrain());
  }

  /** Characters that wait because the reader is behind. */
  get backlog(): number {
    return this.#backlog;
  }

  /** Whether the reader is so far behind that producers must wait. */
  get isFull(): boolean {
    const pending = this.#inFlight + this.#backlog + this.#deltaCharacters;
    return !this.#closed && (pending > MAX_BACKLOG || (this.#blocked && this.#updates.length > MAX_UPDATES));
  }

  /** Undefined while the queue is not full; otherwise settles when the reader has caught up. */
  drained(): Promise<void> | undefined {
    if (!this.isFull) return undefined;
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  send(record: object): void {
    this.sendLine(toLine(record));
  }

  sendLine(line: string): void {
    if (this.#closed) return;
    this.#releaseUpdates();
    this.#enqueue(line);
  }

  /**
   * Queues many lines in order with all other records. Each is generated when the reader has taken the one before.
   * Settles when the last one is written or the queue is closed.
   */
  sendLines(lines: Iterable<string>): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#releaseUpdates();
    return new Promise((resolve) => {
      this.#lines.push({ lines: lines[Symbol.iterator](), end: resolve });
      if (!this.#blocked) this.#onDrain();
    });
  }

  /** Queues an event, followed by its older forms in this dialect. */
  sendEvent(record: AgentEvent): void {
    if (record.type === 'tool_execution_update') this.#addUpdate({ record });
    else this.send(record);
    for (const twin of legacyEvents(this.dialect, record)) this.send(twin);
  }

  /** Queues a step of a streaming message; `snapshot` is the message after it. */
  sendUpdate(record: MessageUpdateEvent, snapshot: AssistantMessage): void {
    this.#addUpdate({ record, snapshot });
  }

  /** Sends pending updates; settles when the link has accepted everything or the queue is closed. */
  async flush(): Promise<void> {
    this.#releaseUpdates();
    while (!this.#closed && this.#lines.length > 0) {
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const item of this.#lines) if (typeof item !== 'string') item.end();
    this.#lines = [];
    this.#updates = [];
    this.#backlog = 0;
    this.#resolveWaiters();
  }

  #addUpdate(update: Update): void {
    if (this.#closed) return;
    if ('snapshot' in update && 'delta' in update.record.assistantMessageEvent) {
      this.#deltaCharacters += update.record.assistantMessageEvent.delta.length;
    }
    const last = this.#updates.at(-1);
    if (last && merge(last, update)) return;
    if ('toolCallId' in update.record && this.#replaceToolUpdate(update.record)) return;
    this.#updates.push(update);
    if (!this.#blocked) this.#scheduleRelease();
  }

  /** Releases pending updates at once, or, if all are deltas, when the spacing to the last delta has passed. */
  #scheduleRelease(): void {
    const wait = this.#nextDeltaAt - performance.now();
    if (wait <= 0 || !this.#updates.every(isDelta)) this.#releaseUpdates();
    else this.#timer ??= setTimeout(() => this.#releaseUpdates(), wait);
  }

  #replaceToolUpdate(record: ToolExecutionUpdateEvent): boolean {
    const pending = this.#updates.find(
      ({ record: other }) => 'toolCallId' in other && other.toolCallId === record.toolCallId,
    );
    if (pending) pending.record = record;
    return pending !== undefined;
  }

  #releaseUpdates(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#updates.length === 0) return;
    const updates = this.#updates;
    this.#updates = [];
    this.#deltaCharacters = 0;
    for (const update of updates) {
      const line = toLine(
        'snapshot' in update ? formatUpdate(this.dialect, update.record, update.snapshot) : update.record,
      );
      if (isDelta(update)) {
        this.#nextDeltaAt = performance.now() + Math.max(MIN_SPACING_MS, line.length / BYTES_PER_MS);
      }
      this.#enqueue(line);
    }
    if (!this.isFull) this.#resolveWaiters();
  }

  #enqueue(line: string): void {
    if (this.#blocked) {
      this.#lines.push(line);
      this.#backlog += line.length;
    } else this.#write(line);
  }

  #write(line: string): void {
    this.#blocked = !this.#link.write(line);
    this.#inFlight = this.#blocked ? this.#inFlight + line.length : 0;
  }

  #onDrain(): void {
    if (this.#closed) return;
    this.#blocked = false;
    this.#inFlight = 0;
    let sent = 0;
    while (sent < this.#lines.length && !this.#blocked) {
      const item = this.#lines[sent] ?? '';
      if (typeof item !== 'string' && !this.#writeSlice(item)) break;
      sent++;
      if (typeof item !== 'string') continue;
      this.#backlog -= item.length;
      this.#write(item);
    }
    this.#lines.splice(0, sent);
    if (!this.#blocked && this.#updates.length > 0) this.#scheduleRelease();
    if (this.#backlog <= MAX_BACKLOG / 2) this.#resolveWaiters();
  }

  /** Writes at most one slice, while the link accepts it; returns true when no line is left. */
  #writeSlice({ lines, end }: LazyLines): boolean {
    for (let written = 0; !this.#blocked; ) {
      const { value, done } = lines.next();
      if (done) {
        end();
        return true;
      }
      written += value.length;
      this.#write(value);
      if (this.#blocked || written < LINES_SLICE) continue;
      this.#blocked = true;
      setTimeout(() => this.#onDrain());
    }
    return false;
  }

  #resolveWaiters(): void {
    const pending = this.#waiters;
    this.#waiters = [];
    for (const resolve of pending) resolve();
  }
}

const isDelta = (update: Update) => 'toolCallId' in update.record || 'delta' in update.record.assistantMessageEvent;

/** Merges a delta into the one before it, if both belong to the same block. */
function merge(last: Update, next: Update): boolean {
  if (!('snapshot' in last) || !('snapshot' in next)) return false;
  const record = joinDeltas(last.record, next.record);
  if (!record) return false;
  last.record = record;
  last.snapshot = next.snapshot;
  return true;
}
