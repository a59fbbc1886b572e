const RESET = '\u001B[0m';
const COLOUR = /(?!\t)\p{Cc}\[\d+m/gu;
const COLOUR_OR_CHARACTER = /(?!\t)\p{Cc}\[\d+m|./gsu;

/** Text as rows that are finished, line ends included, and the last row, broken at words so that it fits the width. */
export function wrap(text: string, width: number): { readonly rows: string; readonly last: string } {
  const start = text.lastIndexOf('\n') + 1;
  let rows = text.slice(0, start);
  let last = text.slice(start);
  for (let end = endOfRow(last, width); end !== undefined; end = endOfRow(last, width)) {
    const row = last.slice(0, end);
    const colour = colourAfter(row);
    rows += `${row}${colour && RESET}\n`;
    last = colour + last.slice(end).replace(/^ /, '');
  }
  return { rows, last };
}

/** Where a row that is too long ends: before the last space that fits, else where the screen ends. */
function endOfRow(line: string, width: number): number | undefined {
  let column = 0;
  let space: number | undefined;
  for (const { 0: piece, index } of line.matchAll(COLOUR_OR_CHARACTER)) {
    if (piece.startsWith('\u001B')) continue;
    if (piece === ' ') space = index;
    if (column === width) return space ?? index;
    column++;
  }
  return undefined;
}

/** The colour that a text leaves on. */
function colourAfter(text: string): string {
  const last = text.match(COLOUR)?.at(-1) ?? RESET;
  return last === RESET ? '' : last;
}
