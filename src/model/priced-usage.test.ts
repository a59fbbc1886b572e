import { expect, it } from 'vitest';
import { pricedUsage } from './priced-usage.ts';
import { builtIn } from './registry/testing/user-files.ts';

const model = builtIn('a', 'm');

it('a response costs the listed price per million tokens of each kind', () => {
  expect(pricedUsage(model, { input: 1_000_000, output: 500_000, cacheRead: 100_000, cacheWrite: 10_000 })).toEqual({
    input: 1_000_000,
    output: 500_000,
    cacheRead: 100_000,
    cacheWrite: 10_000,
    totalTokens: 1_610_000,
    cost: { input: 1, output: 1, cacheRead: 0.3, cacheWrite: 0.04, total: 2.34 },
  });
});

it('counts that a provider omits are zero', () => {
  const usage = pricedUsage(model, { input: 1, output: 2 });

  expect(usage).toMatchObject({ cacheRead: 0, cacheWrite: 0, totalTokens: 3 });
  expect(usage).not.toHaveProperty('reasoning');
});

it('thinking is part of the output and costs nothing extra', () => {
  expect(pricedUsage(model, { input: 0, output: 10, reasoning: 7 })).toMatchObject({
    reasoning: 7,
    totalTokens: 10,
    cost: { total: 0.00002 },
  });
});
