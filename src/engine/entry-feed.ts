import type { EntryAppendedEvent } from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import { toLine } from '../wire/json-lines.ts';
import type { ClientConnection } from './client-connection.ts';

const ENTRIES_PER_PAGE = 100;

/**
 * Sends every entry of the session to one client, from the header on, before any record that depends on it. Stored
 * entries are read as fast as the client reads; events published meanwhile wait behind them.
 */
export class EntryFeed {
  readonly #connection: ClientConnection;
  #isActive = true;
  #sent: Promise<void>;

  /** `after`: an entry that the client has, with all before it; without one, or if it is unknown, the client has none. */
  constructor(connection: ClientConnection, log: SessionLog, after?: string) {
    this.#connection = connection;
    this.#sent = connection.eventQueue.sendSeries(this.#linesOf(log, after));
  }

  /** Starts again with another session; settles when the previous log is no longer needed. */
  restart(log: SessionLog): Promise<void> {
    const before = this.#sent;
    this.#sent = this.#connection.eventQueue.sendSeries(this.#linesOf(log));
    return before;
  }

  /** Stops sending stored entries. */
  stop(): void {
    this.#isActive = false;
  }

  #linesOf(log: SessionLog, last?: string): Generator<string> {
    const position = last === undefined ? undefined : log.positionOf(last);
    return position === undefined
      ? this.#lines(log, { count: log.size })
      : this.#lines(log, { after: last, count: log.size - position - 1 });
  }

  *#lines(log: SessionLog, { after: last, count }: { after?: string | undefined; count: number }): Generator<string> {
    if (last === undefined) yield this.#appended(log.header);
    let after = last;
    for (let sent = 0; sent < count && this.#isActive; sent += ENTRIES_PER_PAGE) {
      const page = this.#read(log, { after, limit: Math.min(ENTRIES_PER_PAGE, count - sent) });
      for (const entry of page) yield this.#appended(entry);
      after = page.at(-1)?.id;
    }
  }

  #appended(entry: EntryAppendedEvent['entry']): string {
    const event: EntryAppendedEvent = { type: 'entry_appended', entry };
    return toLine(this.#connection.stamp?.(event) ?? event);
  }

  /** Closes the connection on a read error: the client must not assume that it got all entries. */
  #read(log: SessionLog, range: { after: string | undefined; limit: number }) {
    try {
      return log.entries(range);
    } catch {
      this.stop();
      this.#connection.link.close();
      return [];
    }
  }
}
