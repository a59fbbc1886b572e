import { expect, it } from 'vitest';
import type { Usage } from '../../protocol/generated/vocabulary.ts';
import { Budget } from './budget.ts';

const used = (tokens: Partial<Usage>, total = 0): Usage => ({
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  ...tokens,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total },
});

it('a budget without limits is never exhausted', () => {
  const budget = new Budget();
  budget.addLimits(undefined);
  budget.addLimits({});
  for (let turn = 0; turn < 100; turn++) budget.addTurn(used({ totalTokens: 1e9 }, 1e6));

  expect(budget.exhaustedReason).toBeUndefined();
});

it.each([
  [{ turns: 2 }, 'The run has used up its model calls (2)'],
  [{ tokens: 200 }, 'The run has used up its tokens (200)'],
  [{ cost: 0.5 }, 'The run has used up its money ($0.5)'],
  [{ turns: 9, tokens: 200, cost: 9 }, 'The run has used up its tokens (200)'],
])('%o is exhausted by the second turn', (limits, reason) => {
  const budget = new Budget();
  budget.addLimits(limits);

  budget.addTurn(used({ totalTokens: 100 }, 0.25));
  expect(budget.exhaustedReason).toBeUndefined();
  budget.addTurn(used({ totalTokens: 100 }, 0.25));

  expect(budget.exhaustedReason).toBe(reason);
});

it.each([{ turns: 0 }, { tokens: 0 }, { cost: 0 }, { wallMs: 0 }])('%o allows no model call', (limits) => {
  const budget = new Budget();
  budget.addLimits(limits);

  expect(budget.exhaustedReason).toMatch(/^The run has used up its .+ \(\$?0( ms)?\)$/);
});

it('every kind of token counts when a provider reports no total', () => {
  const budget = new Budget();
  budget.addLimits({ tokens: 10 });

  budget.addTurn(used({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 }));

  expect(budget.exhaustedReason).toContain('tokens');
});

it('limits that are added later count from the start of the run', () => {
  const budget = new Budget();
  budget.addLimits({ turns: 9 });
  budget.addTurn(used({}));
  expect(budget.exhaustedReason).toBeUndefined();

  budget.addLimits({ turns: 1 });
  budget.addLimits({ turns: 5 });

  expect(budget.exhaustedReason).toContain('(1)');
});
