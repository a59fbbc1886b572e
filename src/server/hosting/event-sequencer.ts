// An item of the sequence.
interface SequencedItem {
  // The text to journal, if any.
  readonly journalText?: string;
  // The event with an entry of the session file that must be stored first.
  readonly entryText?: string;
  // Called in order, with the journal's sequence number.
  readonly handle: (seq: number | undefined) => void;
}

interface SequencerOptions {
  // Stores the entries, then journals the texts; returns the sequence number of the first text.
  readonly append: (texts: readonly string[], entries: readonly string[]) => Promise<number>;
  // The journal failed: items with a text are dropped from now on, others are still handled, so that calls end.
  readonly onJournalError: (error: unknown) => void;
  // A handler threw; later items are handled all the same.
  readonly onListenerError: (error: unknown) => void;
}

/** Journals agent events, then handles them in order of arrival. */
export class EventSequencer {
  readonly #options: SequencerOptions;
  #queue: SequencedItem[] = [];
  #isDraining = false;
  #hasFailed = false;

  constructor(options: SequencerOptions) {
    this.#options = options;
  }

  push(item: SequencedItem): void {
    this.#queue.push(item);
    if (!this.#isDraining) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      const texts = batch.flatMap(({ journalText }) => journalText ?? []);
      const entries = batch.flatMap(({ entryText }) => entryText ?? []);
      const first = texts.length + entries.length > 0 ? await this.#append(texts, entries) : 0;
      let seq = first ?? 0;
      for (const item of batch) {
        if (item.journalText === undefined) this.#handle(item, undefined);
        else if (first !== undefined) this.#handle(item, seq++);
      }
    }
    this.#isDraining = false;
  }

  /** The sequence number of the first text; undefined if the journal failed, now or before. */
  async #append(texts: readonly string[], entries: readonly string[]): Promise<number | undefined> {
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
