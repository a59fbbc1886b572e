import { type Journal, type JournalRecord, MemoryJournal } from '../hosting/journal.ts';
import type { LogClaim } from './log-ownership.ts';

// The beginning of an event with an entry; the text up to the last brace is the line of the session file.
const ENTRY_EVENT = '{"type":"entry_appended","entry":';

interface ReplicatedJournalOptions {
  /** The log has the entries up to this line of the session file. */
  readonly onKept: (line: string) => void;
  readonly limit?: number;
}

/**
 * A journal whose entries are in the log of the session before they get a number: what a client receives after an entry
 * is stored by the cluster.
 */
export class ReplicatedJournal implements Journal {
  readonly #claim: LogClaim;
  readonly #memory: MemoryJournal;
  readonly #onKept: (line: string) => void;

  constructor(claim: LogClaim, { onKept, limit }: ReplicatedJournalOptions) {
    this.#claim = claim;
    this.#onKept = onKept;
    this.#memory = new MemoryJournal({
      isLost: () => claim.lost.aborted,
      ...(limit === undefined ? {} : { limit }),
    });
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

  async append(texts: readonly string[]): Promise<number> {
    const lines = texts.flatMap(entryLineOf);
    const last = lines.at(-1);
    if (last !== undefined) {
      await this.#claim.append('entries', Buffer.from(`${lines.join('\n')}\n`));
      this.#onKept(last);
    }
    return this.#memory.append(texts);
  }

  read(after: number): Promise<readonly JournalRecord[] | undefined> {
    return this.#memory.read(after);
  }
}

/** The line of the session file that an event reports, if it reports one. */
const entryLineOf = (text: string): string[] =>
  text.startsWith(ENTRY_EVENT) ? [text.slice(ENTRY_EVENT.length, -1)] : [];
