/** A normalized text for comparison, with the mapping back to the original. */
export interface MatchForm {
  readonly text: string;
  /** Maps a position to the original text; undefined inside what was one character there. */
  readonly origin: (position: number) => number | undefined;
}

/** Normalizes only line breaks. */
export const plainForm = (text: string): MatchForm =>
  text.includes('\r') ? formOf(text, (line) => line) : { text, origin: (position) => position };

/** Normalizes lookalikes: quotes, dashes, spaces, compatible characters, trailing blanks. */
export const looseForm = (text: string): MatchForm => formOf(text, foldLine);

export const withLineFeeds = (text: string) => text.replaceAll(/\r\n?/g, '\n');

/** Folds the lookalikes of one line, but keeps trailing blanks. */
export const foldLookalikes = (line: string) =>
  // Fast path: most lines are plain ASCII.
  /[\u0080-\uFFFF]/.test(line)
    ? line
        .normalize('NFKC')
        .replaceAll(/[\u2018-\u201B]/g, "'")
        .replaceAll(/[\u201C-\u201F]/g, '"')
        .replaceAll(/[\u2010-\u2015\u2212]/g, '-')
        .replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, ' ')
    : line;

const foldLine = (line: string) => foldLookalikes(line).trimEnd();

interface Line {
  readonly raw: string;
  readonly form: string;
  /** Offset in the original text and in the form. */
  readonly start: number;
  readonly formStart: number;
}

function formOf(text: string, normalize: (line: string) => string): MatchForm {
  const lines: Line[] = [];
  const parts = text.split(/(\r\n?|\n)/);
  let start = 0;
  let formStart = 0;
  for (let index = 0; index < parts.length; index += 2) {
    const [raw = '', lineBreak = ''] = [parts[index], parts[index + 1]];
    const form = normalize(raw);
    lines.push({ raw, form, start, formStart });
    start += raw.length + lineBreak.length;
    formStart += form.length + 1;
  }
  const columns = new Map<Line, Columns>();
  const origin = (position: number) => {
    const line = lineAt(lines, position);
    const lineColumns = columns.get(line) ?? columnsOf(line);
    columns.set(line, lineColumns);
    const column = position - line.formStart;
    const origin = lineColumns === 'same' ? column : lineColumns[column];
    return origin === undefined ? undefined : line.start + origin;
  };
  return { text: lines.map(({ form }) => form).join('\n'), origin };
}

function lineAt(lines: readonly Line[], position: number): Line {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lines[middle]?.formStart ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return lines[low] ?? { raw: '', form: '', start: 0, formStart: 0 };
}

/** For each column of the form that starts a character, its column in the line. */
type Columns = 'same' | readonly (number | undefined)[];

// A character with everything that may combine with it: marks, Hangul parts, halfwidth voice marks.
const CHARACTERS = /.[\p{M}\u1160-\u11FF\uD7B0-\uD7FF\uFF9E\uFF9F\uFFA0-\uFFDC]*/gsu;

function columnsOf({ raw, form }: Line): Columns {
  if (raw === form || raw.trimEnd() === form) return 'same';
  const columns: (number | undefined)[] = [];
  let joined = '';
  let at = 0;
  for (const [character] of raw.matchAll(CHARACTERS)) {
    columns[joined.length] = at;
    joined += foldLookalikes(character);
    at += character.length;
  }
  columns[joined.length] = at;
  if (joined === foldLookalikes(raw)) return columns;
  // Unknown combination of characters: the line only matches as a whole.
  const whole: (number | undefined)[] = [0];
  whole[form.length] = raw.length;
  return whole;
}
