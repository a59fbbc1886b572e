import { newUuid } from '../../store/sessions/random-id.ts';
import { type Journal, type JournalRecord, NotOwner } from './journal.ts';

// Characters kept for one session.
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
