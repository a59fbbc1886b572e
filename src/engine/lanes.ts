import { setMaxListeners } from 'node:events';
import { Refusal } from '../protocol/errors.ts';

/** Commands that may wait behind a slow one, and again as many that wait for the end of a run. */
export const MAX_WAITING = 10_000;

/**
 * Session commands run one at a time in the order they came. A command that finds the lane empty runs within the same
 * tick, so that a client which sends one command and then asks for the state sees its effect.
 */
export class SessionLane {
  #tail: Promise<unknown> | undefined;
  #waiting = 0;
  #watching = 0;
  #isShut = false;
  #aborting = newAborting();

  run<T>(work: () => T | Promise<T>): T | Promise<T> {
    if (this.#isShut) throw shuttingDown();
    if (this.#tail === undefined) return this.#begin(work);
    if (this.#waiting >= MAX_WAITING) throw overloaded();
    this.#waiting++;
    const result = this.#tail.then(() => {
      this.#waiting--;
      if (this.#isShut) throw shuttingDown();
      return work();
    });
    this.#follow(result);
    return result;
  }

  /** What the work itself asks for, on the way, waits behind it like everything else. */
  #begin<T>(work: () => T | Promise<T>): T | Promise<T> {
    let end = () => {};
    const turn = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#tail = turn;
    const over = () => {
      end();
      if (this.#tail === turn) this.#tail = undefined;
    };
    try {
      const result = work();
      if (result instanceof Promise) void result.catch(() => {}).then(over);
      else over();
      return result;
    } catch (error) {
      over();
      throw error;
    }
  }

  /** Makes session commands that come from now on wait for this too, if there is anything to wait for. */
  hold(event: Promise<unknown> | undefined): void {
    if (event !== undefined) this.#follow(this.#tail !== undefined ? Promise.allSettled([this.#tail, event]) : event);
  }

  /** Aborts with the next abort. */
  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  /** Makes session commands wait for an abort that is under way; those that wait already must not begin a run. */
  abort(stopped: Promise<unknown>): void {
    this.#aborting.abort();
    this.#aborting = newAborting();
    this.hold(stopped);
  }

  /** Refuses whatever comes or still waits, and what is being done must not begin a run: the agent is about to leave. */
  shut(): void {
    this.#isShut = true;
    this.#aborting.abort();
  }

  /** Waits beside the lane. */
  async watch(event: () => Promise<void>): Promise<void> {
    if (this.#watching >= MAX_WAITING) throw overloaded();
    this.#watching++;
    try {
      await event();
    } finally {
      this.#watching--;
    }
  }

  /** Settles when nothing is being done and nothing waits. */
  async empty(): Promise<void> {
    while (this.#tail !== undefined) await this.#tail;
  }

  #follow(work: Promise<unknown>): void {
    const tail = work
      .catch(() => {})
      .then(() => {
        if (this.#tail === tail) this.#tail = undefined;
      });
    this.#tail = tail;
  }
}

const overloaded = () => new Refusal('overloaded', 'Too many commands are waiting');

const shuttingDown = () => new Refusal('overloaded', 'The agent is shutting down');

function newAborting(): AbortController {
  const controller = new AbortController();
  // Every command that waits may listen to it.
  setMaxListeners(0, controller.signal);
  return controller;
}
