import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RowHeights } from './row-heights.ts';

const anyHeight = fc.integer({ min: 0, max: 5000 }).map((quarters) => quarters / 4);

it('offsets and indexes equal those of a plain sum', () => {
  const anyChange = fc.tuple(fc.nat(), anyHeight);
  fc.assert(
    fc.property(
      fc.array(anyHeight),
      fc.array(anyChange),
      fc.integer({ min: -50, max: 20_000 }),
      (all, changes, offset) => {
        const plain = [...all];
        const heights = new RowHeights(plain);
        for (const [number, height] of changes) {
          if (plain.length === 0) continue;
          plain[number % plain.length] = height;
          heights.set(number % plain.length, height);
        }

        const begins = plain.map((_, index) => plain.slice(0, index).reduce((sum, height) => sum + height, 0));
        const covers = (index: number) => (begins[index] ?? 0) + (plain[index] ?? 0) > offset;

        expect(plain.map((_, index) => heights.offsetOf(index))).toEqual(begins);
        expect(heights.total).toBe(plain.reduce((sum, height) => sum + height, 0));
        const expected = plain.findIndex((_, index) => covers(index));
        expect(heights.indexAt(offset)).toBe(Math.max(0, expected === -1 ? plain.length - 1 : expected));
      },
    ),
  );
});

it('missing rows have no height', () => {
  const none = new RowHeights([]);
  none.set(0, 10);
  none.set(-1, 10);

  expect([none.total, none.indexAt(5), none.offsetOf(3), none.get(0)]).toEqual([0, 0, 0, 0]);
});
