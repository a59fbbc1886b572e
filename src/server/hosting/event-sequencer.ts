/** Something that came from the agent. */
interface SequencedItem {
  /** What is to be kept of it, if anything. */
  readonly journalText?: string;
  /** Takes it in its turn, under its number if it was kept. */
  readonly handle: (seq: number | undefined) => void;
}

interface SequencerOptions {
  /** Keeps texts; answers the number of the first. */
  readonly append: (texts: readonly string[]) => Promise<number>;
  /** Nothing can be kept any more: nothing more is handed on. */
  readonly onJournalError: (error: unknown) => void;
  /** Somebody could not take something: that is nobody else's concern. */
  readonly onListenerError: (error: unknown) => void;
}

/** Keeps what is to be kept, then hands everything on in the order in which it came. */
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
