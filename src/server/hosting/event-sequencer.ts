// An item of the sequence.
interface SequencedItem {
  // The text to journal, if any.
  readonly journalText?: string;
  // Called in order, with the journal's sequence number.
  readonly handle: (seq: number | undefined) => void;
}

interface SequencerOptions {
  // Journals texts; returns the sequence number of the first.
  readonly append: (texts: readonly string[]) => Promise<number>;
  // The journal failed; no further item is handled.
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
    if (this.#hasFailed) return;
    this.#queue.push(item);
    if (!this.#isDraining) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#isDraining = true;
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue;
        this.#queue = [];
        const texts = batch.flatMap(({ journalText }) => (journalText === undefined ? [] : [journalText]));
        let seq = texts.length > 0 ? await this.#options.append(texts) : 0;
        for (const item of batch) this.#handle(item, item.journalText === undefined ? undefined : seq++);
      }
    } catch (error) {
      this.#hasFailed = true;
      this.#options.onJournalError(error);
    } finally {
      this.#isDraining = false;
    }
  }

  #handle({ handle }: SequencedItem, seq: number | undefined): void {
    try {
      handle(seq);
    } catch (error) {
      this.#options.onListenerError(error);
    }
  }
}
