import { expect, it } from 'vitest';
import { MAX_IDS } from './last-ids.ts';
import { RunEnds } from './run-ends.ts';

it('takes the end of a run once', () => {
  const ends = new RunEnds();

  expect([ends.take('a'), ends.take('b'), ends.take('a')]).toEqual([true, true, false]);
});

it('takes every end of runs without a name', () => {
  const ends = new RunEnds();

  expect([ends.take(''), ends.take('')]).toEqual([true, true]);
});

it('remembers a number of them', () => {
  const ends = new RunEnds();
  for (let count = 0; count <= MAX_IDS; count++) ends.take(`${count}`);

  expect([ends.take('1'), ends.take('0')]).toEqual([false, true]);
});
