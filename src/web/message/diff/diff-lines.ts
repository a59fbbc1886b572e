import { type Fields, fieldsOf, listOf, textOf } from '../../fields.ts';
import { inCommon } from './in-common.ts';

/** A line of a change. `gap` stands for lines that are left out. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'gap';
  /** As the old text counts where it was removed, else as the new one does; undefined when nobody knows. */
  readonly number: number | undefined;
  readonly text: string;
}

/** What an edit changed, by what it said of it, else by what it was asked for. */
export function diffOf(call: Fields, details: unknown): DiffLine[] {
  const { diff, patch } = fieldsOf(details);
  if (textOf(diff) !== '') return parseDiff(textOf(diff));
  if (textOf(patch) !== '') return parsePatch(textOf(patch));
  const edits = listOf(call['edits']);
  return (edits.length > 0 ? edits : [call]).flatMap(({ oldText, newText }, index) => {
    const lines = compare(linesOf(textOf(oldText)), linesOf(textOf(newText)));
    return index > 0 && lines.length > 0 ? [GAP, ...lines] : lines;
  });
}

/** A text that was not there before. */
export const addedLines = (text: string): DiffLine[] =>
  linesOf(text).map((line, index) => ({ kind: 'added', number: index + 1, text: line }));

/** How many lines came and went. */
export function sizeOfDiff(lines: readonly DiffLine[]): string {
  const count = (wanted: DiffLine['kind']) => lines.filter(({ kind }) => kind === wanted).length;
  const [added, removed] = [count('added'), count('removed')];
  return added + removed > 0 ? `+${added} −${removed}` : 'unchanged';
}

/** Lines that are left out. */
export const GAP: DiffLine = { kind: 'gap', number: undefined, text: '' };
const NUMBERED = /^(?:([+\- ]) *(\d+) (.*)| +\.\.\.)$/s;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const kinds: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'same' };

/** Lines that begin with a sign and mostly a number, as edit tools write them for people: what stays has its old number. */
function parseDiff(diff: string): DiffLine[] {
  const lines = diff.split('\n');
  if (!lines.every((line) => NUMBERED.test(line))) return lines.map(signedLine);
  let moved = 0;
  return lines.map((line) => {
    const [, sign = '', number, text = ''] = NUMBERED.exec(line) ?? [];
    if (number === undefined) return GAP;
    const kind = kinds[sign] ?? 'same';
    if (kind !== 'same') moved += kind === 'added' ? 1 : -1;
    return { kind, number: Number(number) + (kind === 'same' ? moved : 0), text };
  });
}

function signedLine(line: string): DiffLine {
  if (line.startsWith('@@')) return { ...GAP, text: line };
  const kind = kinds[line.charAt(0)];
  return { kind: kind ?? 'same', number: undefined, text: kind ? line.slice(1) : line };
}

/** A patch as programs exchange them; what stands between its pieces is about files and dates. */
function parsePatch(patch: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, now] = [0, 0];
  let [oldLeft, nowLeft] = [0, 0];
  for (const line of patch.split('\n')) {
    const hunk = oldLeft <= 0 && nowLeft <= 0 ? HUNK.exec(line) : undefined;
    if (hunk) {
      [old, now] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, nowLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
      if (lines.length > 0 || old > 1) lines.push(GAP);
      continue;
    }
    const kind = kinds[line.charAt(0)] ?? (line === '' ? 'same' : undefined);
    if ((oldLeft <= 0 && nowLeft <= 0) || !kind) continue;
    lines.push({ kind, number: kind === 'removed' ? old : now, text: line.slice(1) });
    if (kind !== 'added') [old, oldLeft] = [old + 1, oldLeft - 1];
    if (kind !== 'removed') [now, nowLeft] = [now + 1, nowLeft - 1];
  }
  return lines.length > 0 ? lines : patch.split('\n').map(signedLine);
}

function compare(old: readonly string[], now: readonly string[]): DiffLine[] {
  const common = inCommon(old, now);
  const lines: DiffLine[] = [];
  const push = (kind: DiffLine['kind'], text = '') => lines.push({ kind, number: undefined, text });
  for (let before = 0, after = 0; before < old.length || after < now.length; ) {
    if (before < old.length && !common?.before[before]) push('removed', old[before++]);
    else if (after < now.length && !common?.after[after]) push('added', now[after++]);
    else {
      push('same', old[before++]);
      after++;
    }
  }
  return lines;
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
