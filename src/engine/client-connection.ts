import type { AgentEvent, HeartbeatEvent } from '../protocol/generated/vocabulary.ts';
import { type Dialect, defaultDialect } from '../wire/dialect.ts';
import type { InputLine } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { EventQueue } from '../wire/event-queue.ts';
import type { EntryFeed } from './entry-feed.ts';

/** Text that may wait for a client before tau stops taking commands from it. The run pauses long before that. */
const MAX_UNREAD = 16 * 1024 * 1024;

/** What a client asked for with `hello`. */
export interface Capabilities {
  /** The dialogs it can show; undefined: it did not say. */
  ui: string[] | undefined;
  /** Whether it wants built-in slash commands. */
  builtins: boolean;
  heartbeatMs: number;
}

/** One client, from its first line to its last. */
export class ClientConnection {
  readonly link: Link;
  readonly eventQueue: EventQueue;
  readonly capabilities: Capabilities = { ui: undefined, builtins: false, heartbeatMs: 0 };
  /** It has said its last word, but may still listen. */
  inputClosed = false;
  /** Nobody comes after it. */
  readonly isLastClient: boolean;
  /** There while the client follows the session's entries. */
  feed: EntryFeed | undefined;
  readonly #heldLines: InputLine[] = [];
  readonly #pending = new Set<Promise<void>>();
  #caughtUp: Promise<void> | undefined;
  #heartbeatTimer: ReturnType<typeof setInterval> | undefined;

  constructor(link: Link, dialect: Partial<Dialect> = {}, { isLastClient = false } = {}) {
    this.link = link;
    this.isLastClient = isLastClient;
    this.eventQueue = new EventQueue(link, { ...defaultDialect, ...dialect });
  }

  get entries(): boolean {
    return this.feed !== undefined;
  }

  /** Tells this client alone. */
  send(event: AgentEvent): void {
    this.eventQueue.sendEvent(event);
  }

  /** Takes lines, but no faster than the client takes the answers. */
  receive(onLine: (line: InputLine) => void): void {
    this.link.onLine((line) => {
      if (this.#heldLines.length === 0 && this.eventQueue.backlog <= MAX_UNREAD) onLine(line);
      else this.#hold(line, onLine);
    });
  }

  /** Remembers a command that is being answered. */
  track(allResponded: Promise<void>): void {
    this.#pending.add(allResponded);
    void allResponded.finally(() => this.#pending.delete(allResponded));
  }

  /** Settles when every command that was received is answered. */
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

  /** Tells the client at this interval that the agent is alive. A client that is behind is not told more. */
  startHeartbeat(intervalMs: number, heartbeat: () => HeartbeatEvent): void {
    clearInterval(this.#heartbeatTimer);
    if (intervalMs <= 0) return;
    const sendHeartbeat = () => {
      if (this.eventQueue.backlog === 0) this.eventQueue.sendEvent(heartbeat());
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
