/** The order in which a client's wishes are done: while it goes to another session, those that are for a session wait. */
export class MoveBarrier {
  #held: (() => void)[] | undefined;

  /** Does it now, or as soon as it may be done. */
  run(work: () => void): void {
    if (this.#held) this.#held.push(work);
    else work();
  }

  /** Does something during which everything else that takes turns waits. */
  async runExclusively(work: () => Promise<void>): Promise<void> {
    this.#held ??= [];
    try {
      await work();
    } finally {
      this.#release();
    }
  }

  /** Does what has waited, in its order, until something has to be alone again. */
  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    while (held.length > 0 && !this.#held) held.shift()?.();
    (this.#held as (() => void)[] | undefined)?.unshift(...held);
  }
}
