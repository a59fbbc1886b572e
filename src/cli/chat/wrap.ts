import { cellsOf } from './cell-width.ts';

const ZERO_WIDTH_JOINER = '\u200D';
const RESET = '\u001B[0m';
const COLOUR = /(?!\t)\p{Cc}\[\d+m/gu;
const COLOUR_OR_CHARACTER = /(?!\t)\p{Cc}\[\d+m|./gsu;

/** Wraps text at words, by the cells of a terminal: returns the finished rows with line ends, and the last row. */
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

/** The end of a row that is too long: before the last space that fits, or else at the width. */
function endOfRow(line: string, width: number): number | undefined {
  let column = 0;
  let space: number | undefined;
  // The start of the current character, which joiners may connect to earlier ones.
  let joined = { index: 0, column: 0 };
  let before = '';
  for (const { 0: piece, index } of line.matchAll(COLOUR_OR_CHARACTER)) {
    if (piece.startsWith('\u001B')) continue;
    if (piece === ' ') space = index;
    const cells = cellsOf(piece, column);
    if (cells > 0 && before !== ZERO_WIDTH_JOINER && !/^\p{M}/u.test(piece)) joined = { index, column };
    // A character that is wider than the terminal has a row of its own.
    if (column > 0 && column + cells > width) return space ?? (joined.column > 0 ? joined.index : index);
    column += cells;
    before = piece;
  }
  return undefined;
}

/** The colour that is active after the text. */
function colourAfter(text: string): string {
  const last = text.match(COLOUR)?.at(-1) ?? RESET;
  return last === RESET ? '' : last;
}
