import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultReconnection, delayAfter, isFinalCode, MAX_RETRY_AFTER_MS, retryDelay } from './reconnection.ts';

const never = () => 0;
const always = () => 1 - Number.EPSILON;

it('[V21 V22] the delay before a retry doubles from one second to thirty', () => {
  const delays = [0, 1, 2, 3, 4, 5, 6].map((attempt) => retryDelay(attempt, defaultReconnection, never));

  expect(defaultReconnection).toEqual({
    maxRetries: 5,
    initialDelayMs: 1000,
    maxDelayMs: 30_000,
    backoffMultiplier: 2,
  });
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

it('[V21] randomness shortens the delay by at most a quarter', () => {
  fc.assert(
    fc.property(fc.nat(2000), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, chance) => {
      const whole = retryDelay(attempt, defaultReconnection, never);
      const delay = retryDelay(attempt, defaultReconnection, () => chance);

      expect(delay).toBeLessThanOrEqual(whole);
      expect(delay).toBeGreaterThanOrEqual(Math.floor(whole * 0.75));
    }),
  );
});

it('[V21] no delay exceeds the longest timer', () => {
  const endless = { ...defaultReconnection, maxDelayMs: Number.POSITIVE_INFINITY };

  expect(retryDelay(5000, endless, never)).toBe(2 ** 31 - 1);
});

describe('the delay after a connection end', () => {
  it('[V34] is what the server asks for, within limits, and never less than the retry delay', () => {
    const waits = [undefined, 10, 5000, 10 ** 12].map((retryAfterMs) => delayAfter({ code: 1012, retryAfterMs }, 1000));

    expect(waits).toEqual([1000, 1000, 5000, MAX_RETRY_AFTER_MS]);
  });

  it('[V34] is zero for a client that was too slow', () => {
    expect(delayAfter({ code: 4408 }, retryDelay(3, defaultReconnection, always))).toBe(0);
  });
});

it('[V26] regular closes and errors of token or address are final', () => {
  expect([1000, 1008, 4400, 4403, 4404].filter(isFinalCode)).toHaveLength(5);
  expect([undefined, 1001, 1005, 1006, 1009, 1011, 1012, 1013, 4408, 4409, 4429].filter(isFinalCode)).toEqual([]);
});
