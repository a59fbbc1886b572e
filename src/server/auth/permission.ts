import { Refusal } from '../../protocol/errors.ts';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import type { CommandName, Frame } from '../../protocol/generated/vocabulary.ts';
import type { Grant, Scope } from './grant.ts';

/** What a client sends: commands, and frames that answer the agent. */
export type InboundType = CommandName | Frame['type'];

/** Whoever may not prompt may not speak for whoever does either. */
const FRAME_SCOPE: Scope = 'prompt';

/** Whether somebody may send this. Asked for every command: a grant may change while a connection is open. */
export const permits = (grant: Grant, type: InboundType): boolean => grant.scopes.has(scopeOf(type));

/** What somebody is told who may not. */
export const permissionDenied = (type: InboundType): Refusal =>
  new Refusal('permission_denied', `Permission denied: ${type} needs the scope ${scopeOf(type)}`);

const scopeOf = (type: InboundType): Scope =>
  Object.hasOwn(commandRows, type) ? commandRows[type as CommandName].scope : FRAME_SCOPE;
