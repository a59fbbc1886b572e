import { expect, it } from 'vitest';
import { storedUsage } from './stored-usage.ts';

const zeros = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const noUsage = { ...zeros, cost: { ...zeros, total: 0 } };

it.each([undefined, null, 'much', 7, [], {}, { input: 'x', totalTokens: 'y', cost: null }])(
  '%j is no usage',
  (value) => {
    expect(storedUsage(value)).toEqual(noUsage);
  },
);

it('complete usage is returned as it is, with or without the total', () => {
  const complete = { ...noUsage, input: 3, reasoning: 2 };
  const withTotal = { ...complete, totalTokens: 3 };

  expect(storedUsage(complete)).toBe(complete);
  expect(storedUsage(withTotal)).toBe(withTotal);
});

it('the numbers and unknown fields of incomplete usage stay', () => {
  expect(storedUsage({ input: 3, totalTokens: 9, other: 1, cost: { total: 0.5 } })).toEqual({
    ...noUsage,
    input: 3,
    totalTokens: 9,
    other: 1,
    cost: { ...noUsage.cost, total: 0.5 },
  });
});
