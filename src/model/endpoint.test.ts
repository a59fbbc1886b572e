import { expect, it } from 'vitest';
import { streamTimeouts } from './endpoint.ts';

it.each([
  [{}, { connectMs: 15_000, firstByteMs: 300_000, betweenMs: 120_000 }],
  [{ httpIdleTimeoutMs: 7 }, { connectMs: 15_000, firstByteMs: 7, betweenMs: 7 }],
  [
    { httpIdleTimeoutMs: 7, stall: { betweenMs: 3 } },
    { connectMs: 15_000, firstByteMs: 7, betweenMs: 3 },
  ],
  [{ stall: { connectMs: 1, firstByteMs: 2, betweenMs: 3 } }, { connectMs: 1, firstByteMs: 2, betweenMs: 3 }],
])('the settings %j yield the timeouts %j', (settings, timeouts) => {
  expect(streamTimeouts(settings)).toEqual(timeouts);
});
