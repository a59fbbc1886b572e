import type { EntryAppendedEvent } from '../../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../../store/sessions/random-id.ts';

/** The header or another line of a session file. */
export type StoredEntry = EntryAppendedEvent['entry'];

/** A journaled event with its sequence number. */
export interface JournalRecord {
  readonly seq: number;
  /** JSON without `seq` and without the line end. */
  readonly text: string;
}

/** Another process owns the session now; nothing more may be appended. */
export class NotOwner extends Error {
  override readonly name = 'NotOwner';

  constructor() {
    super('The session is owned elsewhere');
  }
}

/** Numbers the events of a session and keeps the latest ones for clients that resume. */
export interface Journal {
  /** Identifies the sequence; unique to each journal. */
  readonly epoch: string;
  /** The oldest sequence number that can still be read; `last + 1` if there is none. */
  readonly first: number;
  /** The latest sequence number; 0 before the first. */
  readonly last: number;
  /**
   * Appends texts in order; returns the number of the first. `entries`: lines of the session file, which get no number; a journal with a log stores them there first. Rejects with `NotOwner` and appends nothing if ownership is
   * lost.
   */
  append(texts: readonly string[], entries?: readonly StoredEntry[]): Promise<number>;
  /** All records after this number; undefined if some of them were dropped or never existed. */
  read(after: number): Promise<readonly JournalRecord[] | undefined>;
}

/** Characters kept for one session. */
export const MAX_JOURNAL_CHARACTERS = 4 * 1024 * 1024;

// The bookkeeping cost of one record in characters, so that many small ones are bounded too.
const RECORD_COST = 64;

interface MemoryJournalOptions {
  readonly limit?: number;
  // Whether another process owns the session now.
  readonly isLost?: () => boolean;
}

/** A journal in memory. Beyond its size the oldest records are dropped. */
export class MemoryJournal implements Journal {
  readonly epoch = newUuid();
  readonly #limit: number;
  readonly #isLost: () => boolean;
  #texts: string[] = [];
  /** Dropped texts at the front: shifting a long array is slow. */
  #dropped = 0;
  #size = 0;
  #last = 0;

  constructor({ limit = MAX_JOURNAL_CHARACTERS, isLost = () => false }: MemoryJournalOptions = {}) {
    this.#limit = limit;
    this.#isLost = isLost;
  }

  get first(): number {
    return this.#last - (this.#texts.length - this.#dropped) + 1;
  }

  get last(): number {
    return this.#last;
  }

  async append(texts: readonly string[]): Promise<number> {
    if (this.#isLost()) throw new NotOwner();
    const first = this.#last + 1;
    for (const text of texts) {
      this.#texts.push(text);
      this.#size += text.length + RECORD_COST;
    }
    this.#last += texts.length;
    this.#dropOldest();
    return first;
  }

  async read(after: number): Promise<readonly JournalRecord[] | undefined> {
    if (after < this.first - 1 || after > this.#last) return undefined;
    const skipped = this.#texts.length - (this.#last - after);
    return this.#texts.slice(skipped).map((text, index) => ({ seq: after + 1 + index, text }));
  }

  #dropOldest(): void {
    while (this.#size > this.#limit && this.#dropped < this.#texts.length) {
      this.#size -= (this.#texts[this.#dropped] ?? '').length + RECORD_COST;
      this.#texts[this.#dropped++] = '';
    }
    if (this.#dropped < this.#texts.length / 2) return;
    this.#texts = this.#texts.slice(this.#dropped);
    this.#dropped = 0;
  }
}
