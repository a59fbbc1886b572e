import type { ErrorCode } from '../protocol/errors.ts';
import { CommandFailed, type ConnectionLost } from './errors.ts';

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

/** A parsed JSON line. */
export type WireRecord = Readonly<Record<string, unknown>>;

/** A command without a response. */
export interface PendingCommand {
  readonly command: string;
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Returns undefined for lines that are not JSON objects, such as the banner of a wrapper script. */
export function parseRecord(text: string): WireRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as WireRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves or rejects the command with its response. */
export function settleCommand({ command, resolve, reject }: PendingCommand, response: WireRecord): void {
  if (response['success']) resolve(response['data']);
  else reject(new CommandFailed(command, response['code'] as ErrorCode, String(response['error'])));
}
