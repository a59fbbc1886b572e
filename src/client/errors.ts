import type { ErrorCode } from '../protocol/errors.ts';

/** The connection to the agent ended: a pending command gets no response. Never sent over the wire. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** The connection ended before the command was sent: it was not executed. */
export class NotSent extends ConnectionLost {}

/** The caller withdrew the message before it was sent. */
export class Withdrawn extends NotSent {}

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
