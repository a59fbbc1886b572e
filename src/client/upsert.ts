/** The items with this one in the place of the one that it replaces, or behind all. Without one, that one only goes. */
export function upsert<T>(items: readonly T[], item: T | undefined, isSame: (other: T) => boolean): T[] {
  if (item === undefined) return items.filter((other) => !isSame(other));
  return items.some(isSame) ? items.map((other) => (isSame(other) ? item : other)) : [...items, item];
}
