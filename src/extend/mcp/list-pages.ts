import { isObject } from '../../protocol/json.ts';

// Limits a server that returns empty pages forever.
const MAX_PAGES = 100;

/** Collects a list of a server page by page, up to one item more than the limit. */
export async function collectPages(
  key: string,
  page: (cursor: string | undefined) => Promise<unknown>,
  limit: number,
): Promise<unknown[]> {
  const found: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const result = await page(cursor);
    const { [key]: items, nextCursor } = isObject(result) ? result : {};
    if (!Array.isArray(items)) throw new Error(`its list of ${key} cannot be understood`);
    found.push(...items.slice(0, limit + 1));
    if (typeof nextCursor !== 'string' || found.length > limit) return found;
    cursor = nextCursor;
  }
  return found;
}
