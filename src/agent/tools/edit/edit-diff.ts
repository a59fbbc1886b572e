import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from 'diff';

const CONTEXT_LINES = 4;

// With more changed lines no shortest diff is computed: it takes quadratic time.
const MAX_CHANGED_LINES = 1000;

/** A longer diff is truncated and a longer patch is omitted: both are stored and sent. */
export const MAX_DIFF_CHARACTERS = 256 * 1024;

/** Change made by an edit: `diff` for people, `patch` for programs. */
export interface EditDetails {
  readonly diff: string;
  readonly patch?: string;
  /** Line number in the new text. */
  readonly firstChangedLine: number;
}

/** Describes the change of a file from one text to another. */
export function describeChange(path: string, before: string, after: string): EditDetails {
  const [old, now] = [linesOf(before), linesOf(after)];
  const hunks = hunksOf(old, now);
  const patch = formatPatch({ ...patchHeader(path), hunks }, FILE_HEADERS_ONLY);
  return {
    diff: renderDiff(hunks, { old: old.length, now: now.length }),
    ...(patch.length > MAX_DIFF_CHARACTERS ? {} : { patch }),
    firstChangedLine: firstChange(hunks),
  };
}

const patchHeader = (path: string) => ({
  oldFileName: path,
  newFileName: path,
  oldHeader: undefined,
  newHeader: undefined,
});

/** Splits a text into lines that keep their breaks. */
const linesOf = (text: string) => (text === '' ? [] : text.split(/(?<=\n)/));

/** Compares only the lines between the first and the last difference. */
function hunksOf(old: readonly string[], now: readonly string[]): StructuredPatchHunk[] {
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const above = Math.min(head, CONTEXT_LINES);
  const below = Math.min(tail, CONTEXT_LINES);
  const around = (lines: readonly string[]) => lines.slice(head - above, lines.length - tail + below);
  const limits = { context: CONTEXT_LINES, maxEditLength: MAX_CHANGED_LINES };
  const [oldPart, nowPart] = [around(old), around(now)];
  const found = structuredPatch('', '', oldPart.join(''), nowPart.join(''), undefined, undefined, limits);
  return (found?.hunks ?? [wholeHunk(oldPart, nowPart, { above, below })]).map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + head - above,
    newStart: hunk.newStart + head - above,
  }));
}

/** Replaces all lines between the context above and below in a single hunk. */
function wholeHunk(old: string[], now: string[], { above, below }: { above: number; below: number }) {
  const lines = [
    ...withSign(' ', old.slice(0, above)),
    ...withSign('-', old.slice(above, old.length - below)),
    ...withSign('+', now.slice(above, now.length - below)),
    ...withSign(' ', old.slice(old.length - below)),
  ];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines };
}

const withSign = (sign: string, lines: readonly string[]) =>
  lines.flatMap((line) =>
    line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, '\\ No newline at end of file'],
  );

/** Renders lines with sign and number, numbered by the new text where added; `...` marks omitted lines. */
function renderDiff(hunks: readonly StructuredPatchHunk[], total: { old: number; now: number }): string {
  const width = String(Math.max(total.old, total.now)).length;
  const gap = ` ${' '.repeat(width)} ...`;
  const lines: string[] = [];
  let [old, now, length] = [1, 1, 0];
  for (const hunk of hunks) {
    if (hunk.oldStart > old) lines.push(gap);
    [old, now] = [hunk.oldStart, hunk.newStart];
    for (const line of hunk.lines) {
      const sign = line.charAt(0);
      if (sign === '\\') continue;
      const text = `${sign}${String(sign === '+' ? now : old).padStart(width)} ${line.slice(1).replace(/\r$/, '')}`;
      length += text.length + 1;
      if (length > MAX_DIFF_CHARACTERS) return [...lines, gap].join('\n');
      lines.push(text);
      if (sign !== '+') old++;
      if (sign !== '-') now++;
    }
  }
  if (old <= total.old) lines.push(gap);
  return lines.join('\n');
}

function firstChange(hunks: readonly StructuredPatchHunk[]): number {
  const [first] = hunks;
  return first ? first.newStart + first.lines.findIndex((line) => !line.startsWith(' ')) : 1;
}
