/** How many letters a word may be off and still be meant. */
const MAX_DISTANCE = 2;

/** The known word that was meant, if one is near. */
export function didYouMean(given: string, known: readonly string[]): string | undefined {
  const [closest] = known
    .map((word) => ({ word, edits: distance(given, word), lengthGap: Math.abs(word.length - given.length) }))
    .filter(({ word, edits }) => edits <= MAX_DISTANCE && edits < word.replace(/^-+/, '').length / 2)
    .sort((a, b) => a.edits - b.edits || a.lengthGap - b.lengthGap);
  return closest?.word;
}

/** How many letters have to be added, dropped, changed or swapped with the next to make one word of the other. */
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
