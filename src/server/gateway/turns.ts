/** The order in which a client's wishes are done: while it goes to another session, those that are for a session wait. */
export class Turns {
  #waiting: (() => void)[] | undefined;

  /** Does it now, or as soon as it may be done. */
  take(work: () => void): void {
    if (this.#waiting) this.#waiting.push(work);
    else work();
  }

  /** Does something during which everything else that takes turns waits. */
  async alone(work: () => Promise<void>): Promise<void> {
    this.#waiting ??= [];
    try {
      await work();
    } finally {
      this.#goOn();
    }
  }

  /** Does what has waited, in its order, until something has to be alone again. */
  #goOn(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    while (waiting.length > 0 && !this.#waiting) waiting.shift()?.();
    (this.#waiting as (() => void)[] | undefined)?.unshift(...waiting);
  }
}
