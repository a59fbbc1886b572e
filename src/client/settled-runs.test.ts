import { expect, it } from 'vitest';
import { MAX_RECENT_IDS } from './recent-ids.ts';
import { SettledRuns } from './settled-runs.ts';

it('takes the end of a run once', () => {
  const ends = new SettledRuns();

  expect([ends.record('a'), ends.record('b'), ends.record('a')]).toEqual([true, true, false]);
});

it('takes every end of runs without a name', () => {
  const ends = new SettledRuns();

  expect([ends.record(''), ends.record('')]).toEqual([true, true]);
});

it('remembers a number of them', () => {
  const ends = new SettledRuns();
  for (let count = 0; count <= MAX_RECENT_IDS; count++) ends.record(`${count}`);

  expect([ends.record('1'), ends.record('0')]).toEqual([false, true]);
});
