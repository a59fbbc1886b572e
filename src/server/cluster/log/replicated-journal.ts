import { type Journal, type JournalRecord, MemoryJournal, type StoredEntry } from '../../hosting/storage/journal.ts';
import type { LogClaim } from './log-ownership.ts';

/** Where the entries of an agent go. */
export interface EntryLog {
  readonly lost: AbortSignal;
  /** Appends entries that follow those before, or begin a session with its header. */
  append(entries: readonly StoredEntry[]): Promise<void>;
}

/**
 * A journal whose entries are in the log of the session before later events get a number: what a client receives after an
 * entry is stored by the cluster.
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

  async append(texts: readonly string[], entries: readonly StoredEntry[] = []): Promise<number> {
    if (entries.length > 0) await this.#log.append(entries);
    return this.#memory.append(texts);
  }

  read(after: number): Promise<readonly JournalRecord[] | undefined> {
    return this.#memory.read(after);
  }
}

/** Appends entries as lines of the session file; returns their length. */
export async function appendEntries(claim: LogClaim, entries: readonly StoredEntry[]): Promise<number> {
  const bytes = Buffer.from(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  await claim.append('entries', bytes);
  return bytes.length;
}
