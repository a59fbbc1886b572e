import { expect, it } from 'vitest';
import { type DiffLine, GAP } from './diff-lines.ts';
import { initialLines } from './initial-lines.ts';

const line = (kind: DiffLine['kind'], number: number, text = ''): DiffLine => ({ kind, number, text });
const same = (from: number, count: number) => Array.from({ length: count }, (_, index) => line('same', from + index));

it('a short diff is shown completely', () => {
  const lines = [...same(1, 4), line('added', 5), ...same(5, 4)];

  expect(initialLines(lines, 10)).toBe(lines);
});

it('unchanged lines are shown only near changes', () => {
  const lines = [...same(1, 20), line('removed', 21), ...same(22, 20), line('added', 42)];

  expect(initialLines(lines, 60)).toEqual([
    GAP,
    ...same(17, 4),
    line('removed', 21),
    ...same(22, 4),
    GAP,
    ...same(38, 4),
    line('added', 42),
  ]);
});

it('a diff without changes shows its beginning', () => {
  expect(initialLines(same(1, 20), 60)).toEqual(same(1, 20));
  expect(initialLines(same(1, 200), 60)).toEqual(same(1, 60));
});

it('a diff with many or long lines is cut', () => {
  const many = Array.from({ length: 100 }, (_, index) => line('added', index));

  expect(initialLines(many, 12)).toEqual(many.slice(0, 12));
  expect(initialLines([line('added', 1, 'x'.repeat(20_000)), line('added', 2)], 12)).toEqual([
    line('added', 1, 'x'.repeat(12_000)),
  ]);
});
