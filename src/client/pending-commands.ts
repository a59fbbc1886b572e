import { type WireRecord, settleCommand, type PendingCommand } from './response.ts';
import type { ConnectionLost } from './connection-lost.ts';

/** The commands of one connection that wait for their answers, by the ids they were sent with. */
export class PendingCommands {
  readonly #pending = new Map<string, PendingCommand>();

  /** The data of the answer, once it is there. */
  add(id: string, command: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.#pending.set(id, { command, resolve, reject }));
  }

  handleResponse(response: WireRecord): void {
    const id = String(response['id']);
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (pending) settleCommand(pending, response);
  }

  /** There will be no answers any more. */
  rejectAll(reason: ConnectionLost): void {
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}
