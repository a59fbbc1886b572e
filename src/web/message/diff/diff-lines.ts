import { asObject, asObjects, asText, type Untyped } from '../../untyped.ts';
import { commonSubsequence } from './common-subsequence.ts';

// A line of a diff. `gap` stands for omitted lines.
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'gap';
  // The old number of a removed line, else the new one; undefined if unknown.
  readonly number: number | undefined;
  readonly text: string;
}

/** The lines of an edit, from its result or else from its arguments. */
export function diffOf(call: Untyped, details: unknown): DiffLine[] {
  const { diff, patch } = asObject(details);
  if (asText(diff) !== '') return parseDiff(asText(diff));
  if (asText(patch) !== '') return parsePatch(asText(patch));
  const edits = asObjects(call['edits']);
  return (edits.length > 0 ? edits : [call]).flatMap(({ oldText, newText }, index) => {
    const lines = compareLines(linesOf(asText(oldText)), linesOf(asText(newText)));
    return index > 0 && lines.length > 0 ? [GAP, ...lines] : lines;
  });
}

/** The diff of a new file. */
export const addedLines = (text: string): DiffLine[] =>
  linesOf(text).map((line, index) => ({ kind: 'added', number: index + 1, text: line }));

/** The counts of added and removed lines. */
export function sizeOfDiff(lines: readonly DiffLine[]): string {
  const count = (ofKind: DiffLine['kind']) => lines.filter(({ kind }) => kind === ofKind).length;
  const [added, removed] = [count('added'), count('removed')];
  return added + removed > 0 ? `+${added} −${removed}` : 'unchanged';
}

export const GAP: DiffLine = { kind: 'gap', number: undefined, text: '' };
const NUMBERED = /^(?:([+\- ]) *(\d+) (.*)| +\.\.\.)$/s;
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const kinds: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'same' };

/** Parses lines with a sign and usually a number. Unchanged lines have their old number. */
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

/** Parses a unified diff; lines between its hunks are skipped. */
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

function compareLines(old: readonly string[], now: readonly string[]): DiffLine[] {
  const common = commonSubsequence(old, now);
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
