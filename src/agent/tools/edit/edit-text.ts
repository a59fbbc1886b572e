const BOM = '\uFEFF';

/** A replacement of a text that occurs exactly once in the file. */
export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Applies all edits, or throws an error that explains the problem to the model. Every edit is searched for in the
 * original text; everything outside the found ranges stays unchanged.
 */
export function editText(content: string, edits: readonly Edit[], path: string): string {
  if (edits.length === 0) throw new Error('Edit tool input is invalid. edits must contain at least one replacement.');
  const names = edits.map((_edit, index) => (edits.length === 1 ? undefined : `edits[${index}]`));
  for (const [index, { oldText }] of edits.entries()) {
    const field = names[index] === undefined ? 'oldText' : `${names[index]}.oldText`;
    if (oldText === '') throw new Error(`${field} must not be empty in ${path}.`);
  }
  const bom = content.startsWith(BOM) ? BOM : '';
  const text = content.slice(bom.length);
  const forms = { plain: plainForm(text), loose: looseForm(text) };
  const ranges = edits.map(({ oldText }, index) =>
    findRange(forms, withLineFeeds(oldText), { name: names[index], path }),
  );
  const edited = bom + applyReplacements(text, sortedRanges(edits, ranges, path));
  if (edited !== content) return edited;
  const subject = edits.length === 1 ? 'replacement' : 'replacements';
  throw new Error(`No changes made to ${path}. The ${subject} produced identical content.`);
}

/** Finds the only occurrence of a text: exact, or else by its lookalikes. */
function findRange(
  forms: Forms,
  oldText: string,
  { name, path }: { name: string | undefined; path: string },
): TextRange {
  const exact = rangesOf(forms.plain, oldText);
  const lookalikes = lookalikeRanges(forms.loose, oldText);
  const count = Math.max(exact.length, lookalikes.length);
  const [range] = exact.length > 0 ? exact : lookalikes;
  if (!range) {
    throw new Error(
      `Could not find ${name ?? 'the exact text'} in ${path}. The old text must match exactly including all whitespace and newlines.`,
    );
  }
  if (count === 1) return range;
  throw new Error(
    `Found ${count} occurrences of ${name ?? 'the text'} in ${path}. The text must be unique. Please provide more context to make it unique.`,
  );
}

interface Forms {
  readonly plain: MatchForm;
  readonly loose: MatchForm;
}

/** Trailing blanks of the searched text match blanks or the end of a line. */
function lookalikeRanges(loose: MatchForm, oldText: string): TextRange[] {
  const lines = oldText.split('\n').map(foldLookalikes);
  const last = lines.at(-1) ?? '';
  const above = lines
    .slice(0, -1)
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
  const ranges = rangesOf(loose, above + last);
  const trimmed = above + last.trimEnd();
  if (last === last.trimEnd() || trimmed === '') return ranges;
  return [...ranges, ...rangesOf(loose, trimmed, (next) => next === '' || next === '\n')];
}

function rangesOf({ text, origin }: MatchForm, needle: string, mayFollow = (_next: string) => true): TextRange[] {
  const ranges: TextRange[] = [];
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    const [start, end] = [origin(at), origin(at + needle.length)];
    if (start === undefined || end === undefined || !mayFollow(text.charAt(at + needle.length))) continue;
    ranges.push({ start, end });
  }
  return ranges;
}

/** Ranges in text order, each with its new text. */
function sortedRanges(edits: readonly Edit[], ranges: readonly TextRange[], path: string) {
  const ordered = ranges
    .map((range, index) => ({ ...range, index, newText: edits[index]?.newText ?? '' }))
    .sort((a, b) => a.start - b.start);
  for (const [at, { start, index }] of ordered.entries()) {
    const before = ordered[at - 1];
    if (!before || before.end <= start) continue;
    throw new Error(
      `edits[${before.index}] and edits[${index}] overlap in ${path}. Merge them into one edit or target disjoint regions.`,
    );
  }
  return ordered;
}

/** New lines get the line break of the text's first line. */
function applyReplacements(text: string, ranges: readonly (TextRange & { newText: string })[]): string {
  const lineBreak = /\r?\n/.exec(text)?.[0] ?? '\n';
  const parts: string[] = [];
  let from = 0;
  for (const { start, end, newText } of ranges) {
    parts.push(text.slice(from, start), withLineFeeds(newText).replaceAll('\n', lineBreak));
    from = end;
  }
  return [...parts, text.slice(from)].join('');
}

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
