import { type Received, settle, type Waiting } from './answer.ts';
import type { ConnectionLost } from './connection-lost.ts';

/** The commands of one connection that wait for their answers, by the ids they were sent with. */
export class OpenCalls {
  readonly #waiting = new Map<string, Waiting>();

  /** The data of the answer, once it is there. */
  wait(id: string, command: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { command, resolve, reject }));
  }

  answered(response: Received): void {
    const id = String(response['id']);
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting) settle(waiting, response);
  }

  /** There will be no answers any more. */
  lose(lost: ConnectionLost): void {
    for (const { reject } of this.#waiting.values()) reject(lost);
    this.#waiting.clear();
  }
}
