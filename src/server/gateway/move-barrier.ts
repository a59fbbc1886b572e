/** Holds back the session commands of a client while it moves to another session. */
export class MoveBarrier {
  #held: (() => void)[] | undefined;

  run(work: () => void): void {
    if (this.#held) this.#held.push(work);
    else work();
  }

  /** Runs work while all other work is held. */
  async runExclusively(work: () => Promise<void>): Promise<void> {
    this.#held ??= [];
    try {
      await work();
    } finally {
      this.#release();
    }
  }

  /** Runs held work in order until some of it is exclusive. */
  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    while (held.length > 0 && !this.#held) held.shift()?.();
    (this.#held as (() => void)[] | undefined)?.unshift(...held);
  }
}
