import type { ErrorCode } from '../protocol/errors.ts';
import { CommandFailed } from './command-failed.ts';

/** Whatever was understood of a line. */
export type WireRecord = Readonly<Record<string, unknown>>;

/** A command that waits for its answer. */
export interface PendingCommand {
  readonly command: string;
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Lines that are no records, such as the banner of a wrapper script, mean nothing to a client. */
export function parseRecord(text: string): WireRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as WireRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Ends the wait for this answer. */
export function settleCommand({ command, resolve, reject }: PendingCommand, response: WireRecord): void {
  if (response['success']) resolve(response['data']);
  else reject(new CommandFailed(command, response['code'] as ErrorCode, String(response['error'])));
}
