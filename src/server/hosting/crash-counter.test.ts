import { expect, it } from 'vitest';
import { CrashCounter } from './crash-counter.ts';

it('three within a minute are not too often, four are', () => {
  const crashes = new CrashCounter();
  expect([0, 1000, 2000, 59_000].map((at) => crashes.add(at))).toEqual([false, false, false, true]);
});

it('what is long ago does not count', () => {
  const crashes = new CrashCounter();
  expect([0, 30_000, 59_000, 61_000, 91_000].map((at) => crashes.add(at))).toEqual([false, false, false, false, false]);
});
