import { expect, it } from 'vitest';
import { MAX_RECENT_IDS, SettledRuns } from './recent-ids.ts';

it('a run is new once', () => {
  const ends = new SettledRuns();

  expect([ends.record('a'), ends.record('b'), ends.record('a')]).toEqual([true, true, false]);
});

it('a run without an id is always new', () => {
  const ends = new SettledRuns();

  expect([ends.record(''), ends.record('')]).toEqual([true, true]);
});

it('a bounded number of runs is remembered', () => {
  const ends = new SettledRuns();
  for (let count = 0; count <= MAX_RECENT_IDS; count++) ends.record(`${count}`);

  expect([ends.record('1'), ends.record('0')]).toEqual([false, true]);
});
