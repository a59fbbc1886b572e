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

const TAB = 8;

// Combining marks and format characters share the cell of the character before them; a soft hyphen has its own.
const NO_CELL = /^(?!\u00AD)[\p{Cc}\p{Cf}\p{Mn}\p{Me}]$/u;

// The wide and fullwidth characters of Unicode's East Asian Width, and emoji. Readline counts the voiced sound marks of
// Japanese here too.
const TWO_CELLS =
  /^[\u1100-\u115F\u2329\u232A\u2630-\u2637\u268A-\u268F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FB}\u{1D300}-\u{1D376}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]$/u;

/** Cells of a terminal that a character fills in the column where it starts, by the measure of Node's readline. */
function cellsOf(character: string, column: number): number {
  if (character === '\t') return TAB - (column % TAB);
  if (character >= ' ' && character <= '~') return 1;
  if (TWO_CELLS.test(character)) return 2;
  return NO_CELL.test(character) ? 0 : 1;
}

/** Cells of a terminal that a line of text fills. */
export const cellWidth = (text: string): number => measure(text, Infinity).column;

/** The beginning of a line that fits into so many cells. */
export const firstCells = (text: string, width: number): string => text.slice(0, measure(text, width).end);

function measure(text: string, width: number): { column: number; end: number } {
  let [column, end] = [0, 0];
  for (const character of text) {
    const cells = cellsOf(character, column);
    if (column + cells > width) break;
    column += cells;
    end += character.length;
  }
  return { column, end };
}
