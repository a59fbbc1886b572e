import type { StoredEntry } from './storage/journal.ts';

// An item of the sequence.
interface SequencedItem {
  // The text to journal, if any.
  readonly journalText?: string;
  // The characters that the item holds while it waits.
  readonly size?: number;
  // An entry of the session file that must be stored first.
  readonly entry?: StoredEntry;
  // Called in order, with the journal's sequence number.
  readonly handle: (seq: number | undefined) => void;
}

// Characters of waiting texts beyond which no more output of the agent is read.
const MAX_WAITING_CHARACTERS = 16 * 1024 * 1024;

interface SequencerOptions {
  // Stores the entries, then journals the texts; returns the sequence number of the first text.
  readonly append: (texts: readonly string[], entries: readonly StoredEntry[]) => Promise<number>;
  // The journal failed: items with a text are dropped from now on, others are still handled, so that calls end.
  readonly onJournalError: (error: unknown) => void;
  // A handler threw; later items are handled all the same.
  readonly onListenerError: (error: unknown) => void;
  // Called with true when too much waits for the journal, and with false when it has caught up.
  readonly onFull: (isFull: boolean) => void;
}

/** Journals agent events, then handles them in order of arrival. */
export class EventSequencer {
  readonly #options: SequencerOptions;
  #queue: SequencedItem[] = [];
  #waitingCharacters = 0;
  #isDraining = false;
  #hasFailed = false;
  /** Later items wait for it. */
  #held: Promise<void> | undefined;

  constructor(options: SequencerOptions) {
    this.#options = options;
  }

  /** Whether an item has not been handled completely. */
  get isBusy(): boolean {
    return this.#isDraining;
  }

  push(item: SequencedItem): void {
    this.#queue.push(item);
    const wasFull = this.#isFull;
    this.#waitingCharacters += sizeOf(item);
    if (this.#isFull && !wasFull) this.#options.onFull(true);
    if (!this.#isDraining) void this.#drain();
  }

  /** Call while an item is handled: later items wait until the work has settled. It must not reject. */
  holdFor(work: Promise<void>): void {
    this.#held = work;
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      const texts = batch.flatMap(({ journalText }) => journalText ?? []);
      const entries = batch.flatMap(({ entry }) => entry ?? []);
      const first = texts.length + entries.length > 0 ? await this.#append(texts, entries) : 0;
      let seq = first ?? 0;
      for (const item of batch) {
        if (item.journalText === undefined) this.#handle(item, undefined);
        else if (first !== undefined) this.#handle(item, seq++);
        if (this.#held !== undefined) await this.#held;
        this.#held = undefined;
        this.#release(item);
      }
    }
    this.#isDraining = false;
  }

  get #isFull(): boolean {
    return this.#waitingCharacters > MAX_WAITING_CHARACTERS;
  }

  #release(item: SequencedItem): void {
    const wasFull = this.#isFull;
    this.#waitingCharacters -= sizeOf(item);
    if (wasFull && !this.#isFull) this.#options.onFull(false);
  }

  /** The sequence number of the first text; undefined if the journal failed, now or before. */
  async #append(texts: readonly string[], entries: readonly StoredEntry[]): Promise<number | undefined> {
    if (this.#hasFailed) return undefined;
    try {
      return await this.#options.append(texts, entries);
    } catch (error) {
      this.#hasFailed = true;
      this.#guard(() => this.#options.onJournalError(error));
      return undefined;
    }
  }

  #handle({ handle }: SequencedItem, seq: number | undefined): void {
    this.#guard(() => handle(seq));
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#options.onListenerError(error);
    }
  }
}

const sizeOf = ({ journalText, size = journalText?.length ?? 0 }: SequencedItem): number => size;
