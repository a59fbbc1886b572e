import type { ErrorCode } from '../protocol/errors.ts';

/** The agent rejected a command. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly command: string;
  readonly code: ErrorCode;

  constructor(command: string, code: ErrorCode, message: string) {
    super(message);
    this.command = command;
    this.code = code;
  }
}
