// The most edits between a misspelt word and its suggestion.
const MAX_DISTANCE = 2;

/** Suggests the known word nearest to a misspelt one. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const [closest] = known
    .map((word) => ({ word, edits: distance(given, word), lengthGap: Math.abs(word.length - given.length) }))
    .filter(({ word, edits }) => edits <= MAX_DISTANCE && edits < word.replace(/^-+/, '').length / 2)
    .sort((a, b) => a.edits - b.edits || a.lengthGap - b.lengthGap);
  return closest?.word;
}

/** The edit distance: letters added, dropped, changed or swapped with the next. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const changed = at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      const swapped = isSwapped ? at(row - 2, column - 2) + 1 : Infinity;
      rows[row]?.push(Math.min(changed, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(from.length, to.length);
}
