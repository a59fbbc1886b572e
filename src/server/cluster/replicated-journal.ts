import { type Journal, type JournalRecord, MemoryJournal } from '../hosting/storage/journal.ts';
import type { LogClaim } from './log-ownership.ts';

/** Where the entries of an agent go. */
export interface EntryLog {
  readonly lost: AbortSignal;
  /** Appends lines of the session file. */
  append(lines: readonly string[]): Promise<void>;
  /** The agent begins a new session, with this header: later lines belong to it. */
  begin(sessionId: string): Promise<void>;
}

// The beginning of an event with an entry; the text up to the last brace is the line of the session file.
const ENTRY_EVENT = '{"type":"entry_appended","entry":';

// Line separators are escaped on the wire, and not in the file.
const ESCAPED_SEPARATOR = /\\u202[89]/;

const HEADER = /^\{"type":"session",/;

/**
 * A journal whose entries are in the log of the session before they get a number: what a client receives after an entry
 * is stored by the cluster.
 */
export class ReplicatedJournal implements Journal {
  readonly #log: EntryLog;
  readonly #memory: MemoryJournal;

  constructor(log: EntryLog, limit?: number) {
    this.#log = log;
    this.#memory = new MemoryJournal({ isLost: () => log.lost.aborted, ...(limit === undefined ? {} : { limit }) });
  }

  get epoch(): string {
    return this.#memory.epoch;
  }

  get first(): number {
    return this.#memory.first;
  }

  get last(): number {
    return this.#memory.last;
  }

  async append(texts: readonly string[], entries: readonly string[] = []): Promise<number> {
    let lines: string[] = [];
    for (const line of entries.map(lineOf)) {
      if (HEADER.test(line)) {
        if (lines.length > 0) await this.#log.append(lines);
        lines = [];
        await this.#log.begin(String((JSON.parse(line) as { id: unknown }).id));
      }
      lines.push(line);
    }
    if (lines.length > 0) await this.#log.append(lines);
    return this.#memory.append(texts);
  }

  read(after: number): Promise<readonly JournalRecord[] | undefined> {
    return this.#memory.read(after);
  }
}

/** The line of the session file that an event reports. */
function lineOf(event: string): string {
  const isPlain = event.startsWith(ENTRY_EVENT) && !ESCAPED_SEPARATOR.test(event);
  return isPlain
    ? event.slice(ENTRY_EVENT.length, -1)
    : JSON.stringify((JSON.parse(event) as { entry: unknown }).entry);
}

/** Appends entries under one claim. */
export const appendLines = (claim: LogClaim, lines: readonly string[]): Promise<number> =>
  claim.append('entries', Buffer.from(`${lines.join('\n')}\n`));
