import { Refusal } from '../../protocol/errors.ts';

/** The last session of a page in listing order, which stays valid when sessions are added or removed. */
export interface ListPosition {
  readonly modifiedAt: number;
  readonly path: string;
}

export const encodeCursor = ({ modifiedAt, path }: ListPosition): string =>
  Buffer.from(JSON.stringify([modifiedAt, path])).toString('base64url');

export function decodeCursor(cursor: string): ListPosition {
  try {
    const [modifiedAt, path] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof modifiedAt === 'number' && typeof path === 'string') return { modifiedAt, path };
  } catch {
    // The cursor is not from a session listing.
  }
  throw new Refusal('not_found', `Not a cursor of a session listing: ${cursor.slice(0, 100)}`);
}
