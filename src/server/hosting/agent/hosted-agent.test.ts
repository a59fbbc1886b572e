import { expect, it } from 'vitest';
import { CrashCounter } from './hosted-agent.ts';

it('three crashes within a minute are tolerated, a fourth is not', () => {
  const crashes = new CrashCounter();
  expect([0, 1000, 2000, 59_000].map((at) => crashes.add(at))).toEqual([false, false, false, true]);
});

it('older crashes do not count', () => {
  const crashes = new CrashCounter();
  expect([0, 30_000, 59_000, 61_000, 91_000].map((at) => crashes.add(at))).toEqual([false, false, false, false, false]);
});
