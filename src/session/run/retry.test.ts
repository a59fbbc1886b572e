import { describe, expect, it } from 'vitest';
import { ModelFailure } from '../../model/request.ts';
import { Retries } from './retry.ts';

const busy = (retryAfterMs?: number) =>
  new ModelFailure('overloaded', '529 Overloaded', retryAfterMs === undefined ? {} : { retryAfterMs });

/** The delays of all retries. */
function delays(settings: ConstructorParameters<typeof Retries>[0], failure = busy()): number[] {
  const retries = new Retries(settings);
  const waits: number[] = [];
  for (let retry = retries.next(failure); retry; retry = retries.next(failure)) waits.push(retry.delayMs);
  return waits;
}

describe('retries of a model call', () => {
  it('are three, each after twice the delay of the one before, within a tenth', () => {
    const [first = 0, second = 0, third = 0, ...more] = delays({});

    expect(more).toEqual([]);
    for (const [wait, about] of [
      [first, 2000],
      [second, 4000],
      [third, 8000],
    ] as const) {
      expect(Math.abs(wait - about)).toBeLessThanOrEqual(about / 10);
    }
  });

  it('are counted and carry the error message', () => {
    const retries = new Retries({ maxRetries: 2, baseDelayMs: 0 });

    expect(retries.attempt).toBe(0);
    expect(retries.next(busy())).toEqual({ attempt: 1, maxAttempts: 2, delayMs: 0, errorMessage: '529 Overloaded' });
    expect(retries.next(busy())).toMatchObject({ attempt: 2 });
    expect(retries.next(busy())).toBeUndefined();
    expect(retries.attempt).toBe(2);
  });

  it('start again after a success', () => {
    const retries = new Retries({ maxRetries: 1 });
    retries.next(busy());

    retries.reset();

    expect(retries.next(busy())).toMatchObject({ attempt: 1 });
  });

  it('are limited by the settings, also to none', () => {
    expect(delays({ maxRetries: 5, baseDelayMs: 1 })).toHaveLength(5);
    expect(delays({ maxRetries: 0 })).toEqual([]);
  });

  it('never wait longer than the settings allow', () => {
    expect(delays({ maxRetries: 9, baseDelayMs: 1000, maxDelayMs: 3000 }).slice(2)).toEqual(Array(7).fill(3000));
  });

  it('are not made for permanent failures', () => {
    expect(delays({}, new ModelFailure('auth_failed', '401 Unauthorized', { status: 401 }))).toEqual([]);
    expect(delays({}, new ModelFailure('context_overflow', 'prompt is too long'))).toEqual([]);
  });
});

describe('a server that requests a delay', () => {
  it('gets it if it is longer than the default delay', () => {
    expect(delays({ maxRetries: 1, baseDelayMs: 1 }, busy(5000))).toEqual([5000]);
    expect(delays({ maxRetries: 1, baseDelayMs: 10_000, maxDelayMs: 1000 }, busy(5))).toEqual([1000]);
  });

  it('is not retried if it requests more than the maximum delay', () => {
    const retries = new Retries({});

    expect(retries.next(busy(60_001))).toBeUndefined();
    expect(retries.delayProblem(busy(60_001))).toBe('the server requires a retry delay of 61 s, more than 60 s');
    expect(retries.delayProblem(busy(60_000))).toBeUndefined();
    expect(retries.delayProblem(busy())).toBeUndefined();
  });
});
