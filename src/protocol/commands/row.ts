import type { TProperties, TSchema } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { flag, optional } from '../schema.ts';

/** Of commands that set something for the session. */
export const persist = optional(flag("Make it the default of new sessions too, in the user's settings.json."));

/** What the protocol says about one command. */
export interface CommandRow {
  /** One line for the reference. */
  readonly doc: string;
  readonly params: TProperties;
  /** Shape of `data` in the answer; a command without it answers without `data`. */
  readonly result?: TSchema;
  /** Refusals beyond those that any command may meet. */
  readonly fails: readonly ErrorCode[];
  /**
   * What a command waits for: `control` nothing at all, `read` nothing but start-up, `session` every session command
   * before it and a running abort, `bash` nothing, any number at once.
   */
  readonly lane: 'control' | 'read' | 'session' | 'bash';
  /** What a remote token must hold to send it. */
  readonly scope: 'view' | 'prompt' | 'bash' | 'admin';
}

export type CommandTable = Readonly<Record<string, CommandRow>>;
