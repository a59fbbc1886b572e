import { type Scope, scopes } from '../../store/tokens/token-record.ts';
import { isPathInside } from '../../system/files/path-inside.ts';

export { type Scope, scopes };

/** Who somebody is, and what they may do. */
export interface Grant {
  /** Tells them apart in logs; no secret. */
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The folders whose sessions they may open; undefined: all. */
  readonly allowedPaths: readonly string[] | undefined;
  /** When it ends, in milliseconds of the epoch. */
  readonly expiresAt: number | undefined;
}

/** Whose grant it is: a login has the id of its token before its own. */
export const tokenIdOf = ({ id }: Grant): string => id.split('/')[0] ?? id;

/** Whether a path, existing or not, is where they may open something. The answer holds for this moment. */
export const mayOpen = ({ allowedPaths }: Grant, path: string): boolean =>
  allowedPaths === undefined || allowedPaths.some((root) => isPathInside(root, path));
