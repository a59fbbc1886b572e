import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Heights } from './heights.ts';

const anyHeight = fc.integer({ min: 0, max: 5000 }).map((quarters) => quarters / 4);

it('knows where rows begin, and which is where, as somebody who adds all of them up', () => {
  const anyChange = fc.tuple(fc.nat(), anyHeight);
  fc.assert(
    fc.property(
      fc.array(anyHeight),
      fc.array(anyChange),
      fc.integer({ min: -50, max: 20_000 }),
      (all, changes, place) => {
        const plain = [...all];
        const heights = new Heights(plain);
        for (const [number, height] of changes) {
          if (plain.length === 0) continue;
          plain[number % plain.length] = height;
          heights.set(number % plain.length, height);
        }

        const begins = plain.map((_, index) => plain.slice(0, index).reduce((sum, height) => sum + height, 0));
        const covers = (index: number) => (begins[index] ?? 0) + (plain[index] ?? 0) > place;

        expect(plain.map((_, index) => heights.before(index))).toEqual(begins);
        expect(heights.total).toBe(plain.reduce((sum, height) => sum + height, 0));
        const expected = plain.findIndex((_, index) => covers(index));
        expect(heights.at(place)).toBe(Math.max(0, expected === -1 ? plain.length - 1 : expected));
      },
    ),
  );
});

it('has nothing to say of rows that are not there', () => {
  const none = new Heights([]);
  none.set(0, 10);
  none.set(-1, 10);

  expect([none.total, none.at(5), none.before(3), none.of(0)]).toEqual([0, 0, 0, 0]);
});
