/** Those whose names have the letters of a query in order, the nearest first; the order among equals stays. */
export function nearest<T>(items: readonly T[], query: string, nameOf: (item: T) => string): readonly T[] {
  const wanted = query.toLowerCase();
  return items
    .flatMap((item) => {
      const distance = distanceOf(nameOf(item).toLowerCase(), wanted);
      return distance === undefined ? [] : [{ item, distance }];
    })
    .sort((one, other) => one.distance - other.distance)
    .map(({ item }) => item);
}

/** The lower, the nearer: the same, its beginning, the beginning of a word in it, any part of it, or only its letters. */
function distanceOf(name: string, wanted: string): number | undefined {
  if (name === wanted) return 0;
  const at = name.indexOf(wanted);
  if (at === 0) return 1;
  if (at > 0) return /\w/.test(name.charAt(at - 1)) ? 3 : 2;
  return hasInOrder(name, wanted) ? 4 : undefined;
}

/** Whether the letters are in a name, in this order. */
export function hasInOrder(name: string, letters: string): boolean {
  let from = 0;
  for (const letter of letters) {
    const at = name.indexOf(letter, from);
    if (at === -1) return false;
    from = at + letter.length;
  }
  return true;
}
