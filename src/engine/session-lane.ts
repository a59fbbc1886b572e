import { setMaxListeners } from 'node:events';
import { Refusal } from '../protocol/errors.ts';

/** Limit of waiting commands, and of commands that wait for the end of a run. */
export const MAX_WAITING_COMMANDS = 10_000;

/**
 * Runs session commands one at a time in order of arrival. A command that finds the lane empty runs in the same tick,
 * so that a following `get_state` sees its effect.
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

  /** Commands started by the work itself wait behind it. */
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

  /** Holds later session commands until the condition settles. */
  holdUntil(condition: Promise<unknown> | undefined): void {
    if (condition !== undefined)
      this.#extendTail(this.#tail !== undefined ? Promise.allSettled([this.#tail, condition]) : condition);
  }

  /** Aborts with the next abort. */
  get signal(): AbortSignal {
    return this.#abortController.signal;
  }

  /** Holds session commands until an abort is done; waiting commands must not start a run. */
  abort(stopped: Promise<unknown>): void {
    this.#abortController.abort();
    this.#abortController = newAbortController();
    this.holdUntil(stopped);
  }

  /** Rejects new and waiting commands, and aborts the signal of running ones. */
  close(): void {
    this.#isClosed = true;
    this.#abortController.abort();
  }

  /** Waits without occupying the lane. */
  async waitOutside(wait: () => Promise<void>): Promise<void> {
    if (this.#waitingOutside >= MAX_WAITING_COMMANDS) throw overloaded();
    this.#waitingOutside++;
    try {
      await wait();
    } finally {
      this.#waitingOutside--;
    }
  }

  /** Settles when no command runs or waits. */
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
  // Every waiting command may add a listener.
  setMaxListeners(0, controller.signal);
  return controller;
}
