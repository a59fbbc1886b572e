import { Refusal } from '../../protocol/errors.ts';
import { commandRows } from '../../protocol/generated/command-rows.ts';
import type { ApprovalMode, CommandName, Frame } from '../../protocol/generated/vocabulary.ts';
import { type Scope, scopes } from '../../store/tokens/token-record.ts';
import { isPathInside } from '../../system/files/path-inside.ts';
import type { Access } from '../sessions.ts';
import { isBeyondLimit } from './approval-rights.ts';

export { type Scope, scopes };

/** The identity and rights of a client. */
export interface Grant {
  /** The public id for logs; not a secret. */
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The folders whose sessions the holder may open; undefined allows all. */
  readonly allowedPaths: readonly string[] | undefined;
  /** The loosest approval mode of the runs that the holder takes part in; undefined: no limit. */
  readonly limit: ApprovalMode | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
}

/** The id of the token behind a grant: the id of a login begins with that of its token. */
export const tokenIdOf = ({ id }: Grant): string => id.split('/')[0] ?? id;

/** Whether the grant allows this path, existing or not, at this moment. */
export const mayOpen = ({ allowedPaths }: Grant, path: string): boolean =>
  allowedPaths === undefined || allowedPaths.some((root) => isPathInside(root, path));

/** The user who started the server: the printed login link and the Unix socket have this grant with all rights. */
export const owner: Grant = {
  id: 'owner',
  name: 'owner',
  scopes: new Set(scopes),
  allowedPaths: undefined,
  limit: undefined,
  expiresAt: undefined,
};

/** The types of everything a client sends: commands and frames. */
export type InboundType = CommandName | Frame['type'];

/** Frames answer for the user who prompts, so they need the same scope. */
const FRAME_SCOPE: Scope = 'prompt';

/**
 * Whether a grant permits this type. Checked for every command, because a grant may change while a connection is open.
 */
export const permits = (grant: Grant, type: InboundType): boolean =>
  scopesFor(type).every((scope) => grant.scopes.has(scope)) && !isBeyondLimit(grant, type);

/** Every scope but `view` has commands that change a session. */
export const accessOf = ({ scopes: granted }: Grant): Access =>
  [...granted].every((scope) => scope === 'view') ? 'read' : 'write';

/** The refusal of a type that the grant does not permit. */
export function permissionDenied(type: InboundType, grant: Grant): Refusal {
  if (isBeyondLimit(grant, type))
    return new Refusal('permission_denied', `Permission denied: ${type} needs a token without a limit`);
  const needed = scopesFor(type);
  const text = `${needed.length > 1 ? 'scopes' : 'scope'} ${needed.join(' and ')}`;
  return new Refusal('permission_denied', `Permission denied: ${type} needs the ${text}`);
}

/** The scopes that a type needs: that of its row, and `view` for a command that returns parts of the conversation. */
function scopesFor(type: InboundType): readonly Scope[] {
  if (!Object.hasOwn(commandRows, type)) return [FRAME_SCOPE];
  const { scope, returnsContent } = commandRows[type as CommandName];
  return returnsContent ? [scope, 'view'] : [scope];
}
