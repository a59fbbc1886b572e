import { Refusal } from '../../protocol/errors.ts';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import type { CommandName, Frame } from '../../protocol/generated/vocabulary.ts';
import type { Grant, Scope } from './grant.ts';

/** The types of everything a client sends: commands and frames. */
export type InboundType = CommandName | Frame['type'];

/** Frames answer for the user who prompts, so they need the same scope. */
const FRAME_SCOPE: Scope = 'prompt';

/**
 * Whether a grant permits this type. Checked for every command, because a grant may change while a connection is open.
 */
export const permits = (grant: Grant, type: InboundType): boolean => grant.scopes.has(scopeOf(type));

export const permissionDenied = (type: InboundType): Refusal =>
  new Refusal('permission_denied', `Permission denied: ${type} needs the scope ${scopeOf(type)}`);

const scopeOf = (type: InboundType): Scope =>
  Object.hasOwn(commandRows, type) ? commandRows[type as CommandName].scope : FRAME_SCOPE;
