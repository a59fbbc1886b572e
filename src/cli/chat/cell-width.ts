const TAB = 8;

// Combining marks and format characters share the cell of the character before them; a soft hyphen has its own.
const NO_CELL = /^(?!\u00AD)[\p{Cc}\p{Cf}\p{Mn}\p{Me}]$/u;

// The wide and fullwidth characters of Unicode's East Asian Width, and emoji. Readline counts the voiced sound marks of
// Japanese here too.
const TWO_CELLS =
  /^[\u1100-\u115F\u2329\u232A\u2630-\u2637\u268A-\u268F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE10-\uFE19\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FB}\u{1D300}-\u{1D376}\u{1F200}-\u{1F265}\u{20000}-\u{3FFFD}\p{Emoji_Presentation}]$/u;

/** Cells of a terminal that a character fills in the column where it starts, by the measure of Node's readline. */
export function cellsOf(character: string, column: number): number {
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
