/** Something that came from the agent. */
interface Item {
  /** What is to be kept of it, if anything. */
  readonly keep?: string;
  /** Takes it in its turn, under its number if it was kept. */
  readonly take: (seq: number | undefined) => void;
}

/** Keeps what is to be kept, then hands everything on in the order in which it came. */
export class InOrder {
  readonly #append: (texts: readonly string[]) => Promise<number>;
  readonly #onFailure: (error: unknown) => void;
  #arrived: Item[] = [];
  #isAtWork = false;
  #isBroken = false;

  constructor(append: (texts: readonly string[]) => Promise<number>, onFailure: (error: unknown) => void) {
    this.#append = append;
    this.#onFailure = onFailure;
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
        let seq = kept.length > 0 ? await this.#append(kept) : 0;
        for (const { keep, take } of batch) take(keep === undefined ? undefined : seq++);
      }
    } catch (error) {
      this.#isBroken = true;
      this.#onFailure(error);
    } finally {
      this.#isAtWork = false;
    }
  }
}
