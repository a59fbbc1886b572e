/** Replaces the matching item or appends the new one; with `undefined`, removes the match. */
export function upsert<T>(items: readonly T[], item: T | undefined, isSame: (other: T) => boolean): T[] {
  if (item === undefined) return items.filter((other) => !isSame(other));
  return items.some(isSame) ? items.map((other) => (isSame(other) ? item : other)) : [...items, item];
}
