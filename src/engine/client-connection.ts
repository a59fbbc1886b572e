import type { BroadcastSubscriber } from '../fanout/broadcast.ts';
import { type LineQueue, lineQueue } from '../fanout/line-queue.ts';
import { commandRows } from '../protocol/generated/command-rows.ts';
import type { AgentEvent, HeartbeatEvent } from '../protocol/generated/vocabulary.ts';
import { type Dialect, defaultDialect } from '../wire/dialect.ts';
import { parseInbound } from '../wire/inbound.ts';
import type { InputLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import type { EntryFeed } from './entry-feed.ts';
import { ReadTurns } from './read-turns.ts';

// Limit of unread output: beyond it reads of the client are held. The run pauses long before.
const MAX_UNREAD = 16 * 1024 * 1024;

// Limits of held lines: beyond them nothing of the client is read.
const MAX_HELD_LINES = 10_000;
const MAX_HELD_CHARACTERS = 16 * 1024 * 1024;

// Lines that may overtake held ones until the client has caught up: each may add a little to its unread output.
const MAX_OVERTAKING_LINES = 10_000;

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
  /** No other client will connect. */
  readonly isLastClient: boolean;
  /** Defined while the client follows the session's entries. */
  feed: EntryFeed | undefined;
  /** The large reads of this client. */
  readonly reads: ReadTurns;
  /** Adds the ids of session and run to an event; defined after hello `ids:true`. */
  stamp: BroadcastSubscriber['stamp'];
  readonly #ended = new AbortController();
  readonly #heldLines: InputLine[] = [];
  #heldCharacters = 0;
  #overtakingLines = 0;
  readonly #pending = new Set<Promise<void>>();
  #caughtUp: Promise<void> | undefined;
  #heartbeatTimer: ReturnType<typeof setInterval> | undefined;

  constructor(link: Link, dialect: Partial<Dialect> = {}, { isLastClient = false } = {}) {
    this.link = link;
    this.isLastClient = isLastClient;
    this.eventQueue = lineQueue(link, { ...defaultDialect, ...dialect });
    this.reads = new ReadTurns(this.eventQueue);
  }

  /** Aborted when the client's input or the link closes: for work that needs the client's answers. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** The client sends no more, but may still read. */
  get inputClosed(): boolean {
    return this.ended.aborted;
  }

  /** Called when the client's input or the link has closed. */
  closeInput(): void {
    this.#ended.abort();
  }

  get entries(): boolean {
    return this.feed !== undefined;
  }

  /** Sends an event to this client only. */
  send(event: AgentEvent): void {
    this.eventQueue.publish({ event: this.stamp ? this.stamp(event) : event });
  }

  /** Passes lines on; reads no faster than the client reads the responses. Other commands and frames overtake them. */
  receive(onLine: (line: InputLine) => void): void {
    this.link.onLine((line) => this.#passOrHold(line, onLine));
  }

  #passOrHold(line: InputLine, onLine: (line: InputLine) => void): void {
    const isBehind = this.#heldLines.length > 0 || this.eventQueue.backlog > MAX_UNREAD;
    if (!isBehind || this.#overtakes(line)) onLine(line);
    else this.#hold(line, onLine);
  }

  #overtakes(line: InputLine): boolean {
    if (this.#overtakingLines >= MAX_OVERTAKING_LINES || isRead(line)) return false;
    this.#overtakingLines++;
    return true;
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
    this.#heldCharacters += 'text' in line ? line.text.length : 0;
    if (this.#heldLines.length > MAX_HELD_LINES || this.#heldCharacters > MAX_HELD_CHARACTERS) this.link.pause();
    if (this.#heldLines.length > 1) return;
    this.#caughtUp = Promise.resolve(this.eventQueue.drained()).then(() => this.#catchUp(onLine));
  }

  #catchUp(onLine: (line: InputLine) => void): void {
    const lines = this.#heldLines.splice(0);
    this.#heldCharacters = 0;
    this.#overtakingLines = 0;
    this.link.resume();
    for (const line of lines) this.#passOrHold(line, onLine);
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
    this.reads.close();
    this.eventQueue.close();
    this.link.close();
  }
}

/** Whether a line is a command that only reads, or gets nothing but an error. */
function isRead(line: InputLine): boolean {
  const inbound = parseInbound(line);
  if (inbound.kind === 'refused') return inbound.malformed === undefined;
  return inbound.kind === 'command' && commandRows[inbound.name].lane === 'read';
}
