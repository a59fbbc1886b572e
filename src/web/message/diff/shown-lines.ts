import { atFirst } from '../at-first.ts';
import { type DiffLine, GAP } from './diff-lines.ts';

/** How many lines are shown of what has not changed, on either side of what has. */
const CONTEXT = 4;
const MAX_LETTERS = 12_000;

/** The lines of a change that are shown at first; the same list when these are all. */
export function shownLines(lines: readonly DiffLine[], count: number): readonly DiffLine[] {
  const near = withoutLongContext(lines);
  const first = atFirst(near.length, count);
  return withinLetters(first === near.length ? near : near.slice(0, first));
}

/** The lines near a change; a gap for those that are far from it. Where nothing has changed, all are as near. */
function withoutLongContext(lines: readonly DiffLine[]): readonly DiffLine[] {
  const distance = distances(lines);
  const isFar = (index: number) => {
    const far = distance[index] ?? 0;
    return far > CONTEXT && far < Infinity;
  };
  if (!lines.some((_, index) => isFar(index))) return lines;
  return lines.flatMap((line, index) => (!isFar(index) ? [line] : isFar(index - 1) ? [] : [GAP]));
}

/** How far each line is from the next one that changed. */
function distances(lines: readonly DiffLine[]): number[] {
  const far = lines.map(({ kind }) => (kind === 'same' ? Number.POSITIVE_INFINITY : 0));
  for (let at = 1; at < far.length; at++) far[at] = Math.min(far[at] ?? 0, (far[at - 1] ?? 0) + 1);
  for (let at = far.length - 2; at >= 0; at--) far[at] = Math.min(far[at] ?? 0, (far[at + 1] ?? 0) + 1);
  return far;
}

/** Few lines may be very long. */
function withinLetters(lines: readonly DiffLine[]): readonly DiffLine[] {
  let left = MAX_LETTERS;
  for (const [index, line] of lines.entries()) {
    if (line.text.length > left) return [...lines.slice(0, index), { ...line, text: line.text.slice(0, left) }];
    left -= line.text.length;
  }
  return lines;
}
