import { initialCount } from '../initial-count.ts';
import { type DiffLine, GAP } from './diff-lines.ts';

// Unchanged lines shown on either side of a change.
const CONTEXT_LINES = 4;
const MAX_INITIAL_CHARACTERS = 12_000;

/** The lines of a diff before it is expanded; the same list if none is hidden. */
export function initialLines(lines: readonly DiffLine[], count: number): readonly DiffLine[] {
  const near = collapseContext(lines);
  const first = initialCount(near.length, count);
  return limitCharacters(first === near.length ? near : near.slice(0, first));
}

/** Replaces unchanged lines far from any change by gaps. Without a change, all lines stay. */
function collapseContext(lines: readonly DiffLine[]): readonly DiffLine[] {
  const distance = distancesToChange(lines);
  const isFar = (index: number) => {
    const far = distance[index] ?? 0;
    return far > CONTEXT_LINES && far < Infinity;
  };
  if (!lines.some((_, index) => isFar(index))) return lines;
  return lines.flatMap((line, index) => (!isFar(index) ? [line] : isFar(index - 1) ? [] : [GAP]));
}

/** The distance of each line to the nearest change. */
function distancesToChange(lines: readonly DiffLine[]): number[] {
  const far = lines.map(({ kind }) => (kind === 'same' ? Number.POSITIVE_INFINITY : 0));
  for (let at = 1; at < far.length; at++) far[at] = Math.min(far[at] ?? 0, (far[at - 1] ?? 0) + 1);
  for (let at = far.length - 2; at >= 0; at--) far[at] = Math.min(far[at] ?? 0, (far[at + 1] ?? 0) + 1);
  return far;
}

function limitCharacters(lines: readonly DiffLine[]): readonly DiffLine[] {
  let left = MAX_INITIAL_CHARACTERS;
  for (const [index, line] of lines.entries()) {
    if (line.text.length > left) return [...lines.slice(0, index), { ...line, text: line.text.slice(0, left) }];
    left -= line.text.length;
  }
  return lines;
}
