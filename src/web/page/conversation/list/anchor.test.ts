import fc from 'fast-check';
import { expect, it } from 'vitest';
import { survivingAnchor } from './anchor.ts';

const rows = (keys: readonly number[]) => keys.map((key) => ({ key }));

const indexIn = (keys: readonly number[]) => (key: number) => (keys.includes(key) ? keys.indexOf(key) : undefined);

it('the anchor keeps its row while that row exists', () => {
  const anyKeys = fc.uniqueArray(fc.nat(20), { minLength: 1 });
  fc.assert(
    fc.property(anyKeys, anyKeys, fc.nat(), fc.integer(), (before, after, index, top) => {
      const key = before[index % before.length] ?? 0;

      const anchor = survivingAnchor({ key, top }, rows(before), indexIn(after));

      if (after.includes(key)) expect(anchor).toEqual({ key, top });
      else if (before.some((one) => after.includes(one))) expect(after).toContain(anchor?.key);
      else expect(anchor).toBeUndefined();
    }),
  );
});

it('the anchor moves to the next remaining row, or else to the previous one', () => {
  const anchor = { key: 2, top: -30 };

  expect(survivingAnchor(anchor, rows([1, 2, 3, 4]), indexIn([1, 4]))).toEqual({ key: 4, top: 0 });
  expect(survivingAnchor(anchor, rows([0, 1, 2, 3]), indexIn([0, 1]))).toEqual({ key: 1, top: 0 });
});
