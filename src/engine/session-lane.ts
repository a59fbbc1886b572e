import { setMaxListeners } from 'node:events';
import { Refusal } from '../protocol/errors.ts';

/** Commands that may wait behind a slow one, and again as many that wait for the end of a run. */
export const MAX_WAITING_COMMANDS = 10_000;

/**
 * Session commands run one at a time in the order they came. A command that finds the lane empty runs within the same
 * tick, so that a client which sends one command and then asks for the state sees its effect.
 */
export class SessionLane {
  #tail: Promise<unknown> | undefined;
  #waiting = 0;
  #waitingOutside = 0;
  #isClosed = false;
  #abortController = newAbortController();

  run<T>(work: () => T | Promise<T>): T | Promise<T> {
    if (this.#isClosed) throw shuttingDown();
    if (this.#tail === undefined) return this.#start(work);
    if (this.#waiting >= MAX_WAITING_COMMANDS) throw overloaded();
    this.#waiting++;
    const result = this.#tail.then(() => {
      this.#waiting--;
      if (this.#isClosed) throw shuttingDown();
      return work();
    });
    this.#extendTail(result);
    return result;
  }

  /** What the work itself asks for, on the way, waits behind it like everything else. */
  #start<T>(work: () => T | Promise<T>): T | Promise<T> {
    let resolveRunning = () => {};
    const running = new Promise<void>((resolve) => {
      resolveRunning = resolve;
    });
    this.#tail = running;
    const finish = () => {
      resolveRunning();
      if (this.#tail === running) this.#tail = undefined;
    };
    try {
      const result = work();
      if (result instanceof Promise) void result.catch(() => {}).then(finish);
      else finish();
      return result;
    } catch (error) {
      finish();
      throw error;
    }
  }

  /** Makes session commands that come from now on wait for this too, if there is anything to wait for. */
  holdUntil(condition: Promise<unknown> | undefined): void {
    if (condition !== undefined) this.#extendTail(this.#tail !== undefined ? Promise.allSettled([this.#tail, condition]) : condition);
  }

  /** Aborts with the next abort. */
  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  /** Makes session commands wait for an abort that is under way; those that wait already must not begin a run. */
  abort(stopped: Promise<unknown>): void {
    this.#abortController.abort();
    this.#abortController = newAbortController();
    this.holdUntil(stopped);
  }

  /** Refuses whatever comes or still waits, and what is being done must not begin a run: the agent is about to leave. */
  close(): void {
    this.#isClosed = true;
    this.#abortController.abort();
  }

  /** Waits beside the lane. */
  async waitOutside(wait: () => Promise<void>): Promise<void> {
    if (this.#waitingOutside >= MAX_WAITING_COMMANDS) throw overloaded();
    this.#waitingOutside++;
    try {
      await wait();
    } finally {
      this.#waitingOutside--;
    }
  }

  /** Settles when nothing is being done and nothing waits. */
  async whenEmpty(): Promise<void> {
    while (this.#tail !== undefined) await this.#tail;
  }

  #extendTail(work: Promise<unknown>): void {
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

function newAbortController(): AbortController {
  const controller = new AbortController();
  // Every command that waits may listen to it.
  setMaxListeners(0, controller.signal);
  return controller;
}
