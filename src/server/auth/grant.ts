import { type Scope, scopes } from '../../store/tokens/token-record.ts';
import { isPathInside } from '../../system/files/path-inside.ts';

export { type Scope, scopes };

/** The identity and rights of a client. */
export interface Grant {
  /** The public id for logs; not a secret. */
  readonly id: string;
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The folders whose sessions the holder may open; undefined allows all. */
  readonly allowedPaths: readonly string[] | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
}

/** The id of the token behind a grant: the id of a login begins with that of its token. */
export const tokenIdOf = ({ id }: Grant): string => id.split('/')[0] ?? id;

/** Whether the grant allows this path, existing or not, at this moment. */
export const mayOpen = ({ allowedPaths }: Grant, path: string): boolean =>
  allowedPaths === undefined || allowedPaths.some((root) => isPathInside(root, path));
