import { type WireRecord, settleCommand, type PendingCommand } from './response.ts';
import type { ConnectionLost } from './connection-lost.ts';

/** The commands of one connection without a response, by id. */
export class PendingCommands {
  readonly #pending = new Map<string, PendingCommand>();

  /** Resolves with the data of the response. */
  add(id: string, command: string): Promise<unknown> {
    return new Promise((resolve, reject) => this.#pending.set(id, { command, resolve, reject }));
  }

  handleResponse(response: WireRecord): void {
    const id = String(response['id']);
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (pending) settleCommand(pending, response);
  }

  rejectAll(reason: ConnectionLost): void {
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
  }
}
