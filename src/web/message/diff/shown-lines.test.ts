import { expect, it } from 'vitest';
import { type DiffLine, GAP } from './diff-lines.ts';
import { shownLines } from './shown-lines.ts';

const line = (kind: DiffLine['kind'], number: number, text = ''): DiffLine => ({ kind, number, text });
const same = (from: number, count: number) => Array.from({ length: count }, (_, index) => line('same', from + index));

it('a short change is shown as it is', () => {
  const lines = [...same(1, 4), line('added', 5), ...same(5, 4)];

  expect(shownLines(lines, 10)).toBe(lines);
});

it('what has not changed is shown only near what has', () => {
  const lines = [...same(1, 20), line('removed', 21), ...same(22, 20), line('added', 42)];

  expect(shownLines(lines, 60)).toEqual([
    GAP,
    ...same(17, 4),
    line('removed', 21),
    ...same(22, 4),
    GAP,
    ...same(38, 4),
    line('added', 42),
  ]);
});

it('where nothing has changed, the beginning is shown', () => {
  expect(shownLines(same(1, 20), 60)).toEqual(same(1, 20));
  expect(shownLines(same(1, 200), 60)).toEqual(same(1, 60));
});

it('a long change, or one of long lines, is cut', () => {
  const many = Array.from({ length: 100 }, (_, index) => line('added', index));

  expect(shownLines(many, 12)).toEqual(many.slice(0, 12));
  expect(shownLines([line('added', 1, 'x'.repeat(20_000)), line('added', 2)], 12)).toEqual([
    line('added', 1, 'x'.repeat(12_000)),
  ]);
});
