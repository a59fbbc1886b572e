import type { BroadcastSubscriber } from '../fanout/broadcast.ts';
import { type LineQueue, lineQueue } from '../fanout/line-queue.ts';
import type { AgentEvent, HeartbeatEvent } from '../protocol/generated/vocabulary.ts';
import { type Dialect, defaultDialect } from '../wire/dialect.ts';
import type { InputLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import type { EntryFeed } from './entry-feed.ts';

// Limit of unread output: beyond it no command of the client is read. The run pauses long before.
const MAX_UNREAD = 16 * 1024 * 1024;

/** Capabilities that a client announced with `hello`. */
export interface Capabilities {
  /** Supported dialog methods; undefined: not announced. */
  ui: string[] | undefined;
  /** Whether built-in slash commands are enabled. */
  builtins: boolean;
  heartbeatMs: number;
}

/** Connection of one client: its lines, responses, heartbeat and entry feed. */
export class ClientConnection {
  readonly link: Link;
  readonly eventQueue: LineQueue;
  readonly capabilities: Capabilities = { ui: undefined, builtins: false, heartbeatMs: 0 };
  /** The client sends no more, but may still read. */
  inputClosed = false;
  /** No other client will connect. */
  readonly isLastClient: boolean;
  /** Defined while the client follows the session's entries. */
  feed: EntryFeed | undefined;
  /** Adds the ids of session and run to an event; defined after hello `ids:true`. */
  stamp: BroadcastSubscriber['stamp'];
  readonly #heldLines: InputLine[] = [];
  readonly #pending = new Set<Promise<void>>();
  #caughtUp: Promise<void> | undefined;
  #heartbeatTimer: ReturnType<typeof setInterval> | undefined;

  constructor(link: Link, dialect: Partial<Dialect> = {}, { isLastClient = false } = {}) {
    this.link = link;
    this.isLastClient = isLastClient;
    this.eventQueue = lineQueue(link, { ...defaultDialect, ...dialect });
  }

  get entries(): boolean {
    return this.feed !== undefined;
  }

  /** Sends an event to this client only. */
  send(event: AgentEvent): void {
    this.eventQueue.publish({ event: this.stamp ? this.stamp(event) : event });
  }

  /** Passes lines on, but no faster than the client reads the responses. */
  receive(onLine: (line: InputLine) => void): void {
    this.link.onLine((line) => {
      if (this.#heldLines.length === 0 && this.eventQueue.backlog <= MAX_UNREAD) onLine(line);
      else this.#hold(line, onLine);
    });
  }

  /** Tracks a pending response. */
  track(allResponded: Promise<void>): void {
    this.#pending.add(allResponded);
    void allResponded.finally(() => this.#pending.delete(allResponded));
  }

  /** Settles when every received command has its response. */
  async response(): Promise<void> {
    while (this.#heldLines.length > 0 || this.#pending.size > 0) {
      await Promise.all([...this.#pending, this.#caughtUp]);
    }
  }

  #hold(line: InputLine, onLine: (line: InputLine) => void): void {
    this.#heldLines.push(line);
    if (this.#heldLines.length > 1) return;
    this.link.pause();
    this.#caughtUp = Promise.resolve(this.eventQueue.drained()).then(() => this.#catchUp(onLine));
  }

  #catchUp(onLine: (line: InputLine) => void): void {
    const lines = this.#heldLines.splice(0);
    this.link.resume();
    for (const line of lines) {
      if (this.#heldLines.length === 0 && this.eventQueue.backlog <= MAX_UNREAD) onLine(line);
      else this.#hold(line, onLine);
    }
  }

  /** Sends a heartbeat at this interval, except while the client has unread output. */
  startHeartbeat(intervalMs: number, heartbeat: () => HeartbeatEvent): void {
    clearInterval(this.#heartbeatTimer);
    if (intervalMs <= 0) return;
    const sendHeartbeat = () => {
      if (this.eventQueue.backlog === 0) this.send(heartbeat());
    };
    this.#heartbeatTimer = setInterval(sendHeartbeat, intervalMs);
    this.#heartbeatTimer.unref?.();
  }

  close(): void {
    clearInterval(this.#heartbeatTimer);
    this.eventQueue.close();
    this.link.close();
  }
}
