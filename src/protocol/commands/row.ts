import type { TProperties, TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { flag, optional } from '../schema.ts';

/** A parameter of commands that change a setting of the session. */
export const persist = optional(flag("Make it the default of new sessions too, in the user's settings.json."));

/** The contract of one command: parameters, result, errors, lane and scope. */
export interface CommandRow {
  /** A sentence for docs/protocol.md. */
  readonly doc: string;
  readonly params: TProperties;
  /** Shape of `data` in the response; a command without it responds without `data`. */
  readonly result?: TSchema;
  /** Error codes beyond those that every command may return. */
  readonly fails: readonly ErrorCode[];
  /**
   * Which work delays a command: `control` none, `read` only start-up, `session` every earlier session command and
   * a running abort, `bash` none, and any number run at once.
   */
  readonly lane: 'control' | 'read' | 'session' | 'bash';
  /** The scope that a remote token needs to send the command. */
  readonly scope: 'view' | 'prompt' | 'bash' | 'admin';
  /** The response, or the file it names, contains parts of the conversation: a token needs the scope `view` too. */
  readonly returnsContent?: true;
}

export type CommandTable = Readonly<Record<string, CommandRow>>;
