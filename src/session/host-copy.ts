import { unlessAborted } from '../agent/unless-aborted.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';

interface Waiter {
  readonly position: number;
  readonly done: () => void;
}

/** How far the host of this agent has stored the entries of a session too: no model and no tool runs ahead of that. */
export class HostCopy {
  readonly #log: SessionLog;
  /** The position of the last entry that the host has; -1 for none. */
  #position = -1;
  #waiters: readonly Waiter[] = [];

  constructor(log: SessionLog) {
    this.#log = log;
  }

  /** The host has all entries up to this one. An entry of another session changes nothing. */
  confirm(entryId: string): void {
    const position = this.#log.positionOf(entryId) ?? -1;
    if (position <= this.#position) return;
    this.#position = position;
    const isReached = (waiter: Waiter) => waiter.position <= position;
    const reached = this.#waiters.filter(isReached);
    this.#waiters = this.#waiters.filter((waiter) => !isReached(waiter));
    for (const { done } of reached) done();
  }

  /** Settles when the host has everything that is stored so far, or at an abort. */
  async complete(signal: AbortSignal): Promise<void> {
    const position = this.#log.size - 1;
    if (position <= this.#position || signal.aborted) return;
    let waiter: Waiter | undefined;
    const reached = new Promise<void>((done) => {
      waiter = { position, done };
      this.#waiters = [...this.#waiters, waiter];
    });
    await unlessAborted(reached, signal);
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
  }
}
