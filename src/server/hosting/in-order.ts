/** Something that came from the agent. */
interface Item {
  /** What is to be kept of it, if anything. */
  readonly keep?: string;
  /** Takes it in its turn, under its number if it was kept. */
  readonly take: (seq: number | undefined) => void;
}

interface Options {
  /** Keeps texts; answers the number of the first. */
  readonly append: (texts: readonly string[]) => Promise<number>;
  /** Nothing can be kept any more: nothing more is handed on. */
  readonly broken: (error: unknown) => void;
  /** Somebody could not take something: that is nobody else's concern. */
  readonly stumbled: (error: unknown) => void;
}

/** Keeps what is to be kept, then hands everything on in the order in which it came. */
export class InOrder {
  readonly #options: Options;
  #arrived: Item[] = [];
  #isAtWork = false;
  #isBroken = false;

  constructor(options: Options) {
    this.#options = options;
  }

  push(item: Item): void {
    if (this.#isBroken) return;
    this.#arrived.push(item);
    if (!this.#isAtWork) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isAtWork = true;
    try {
      while (this.#arrived.length > 0) {
        const batch = this.#arrived;
        this.#arrived = [];
        const kept = batch.flatMap(({ keep }) => (keep === undefined ? [] : [keep]));
        let seq = kept.length > 0 ? await this.#options.append(kept) : 0;
        for (const item of batch) this.#hand(item, item.keep === undefined ? undefined : seq++);
      }
    } catch (error) {
      this.#isBroken = true;
      this.#options.broken(error);
    } finally {
      this.#isAtWork = false;
    }
  }

  #hand({ take }: Item, seq: number | undefined): void {
    try {
      take(seq);
    } catch (error) {
      this.#options.stumbled(error);
    }
  }
}
