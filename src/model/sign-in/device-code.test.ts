import { describe, expect, it } from 'vitest';
import { type Poll, pollDevice } from './device-code.ts';

/** Polls with these results and returns the seconds that were waited before each. */
async function poll(results: readonly Poll[], options: { interval?: number; lifetime?: number } = {}) {
  const queue = [...results];
  const waits: number[] = [];
  const { signal } = new AbortController();
  const body = await pollDevice({
    interval: options.interval,
    lifetime: options.lifetime,
    signal,
    poll: async () => queue.shift() ?? 'pending',
    wait: async (seconds) => waits.push(seconds),
  }).catch((error: Error) => error.message);
  return { body, waits };
}

const done: Poll = { body: { access_token: 'a' } };

describe('polling with a device code', () => {
  it('waits five seconds by default, and never less than one', async () => {
    expect((await poll(['pending', done])).waits).toEqual([5, 5]);
    expect((await poll(['pending', done], { interval: 0.2 })).waits).toEqual([1, 1]);
  });

  it('waits longer after slow_down: by five seconds, or as the issuer requires', async () => {
    expect((await poll([{ slowDown: undefined }, { slowDown: undefined }, done], { interval: 2 })).waits).toEqual([
      2, 7, 12,
    ]);
    expect((await poll([{ slowDown: 9 }, { slowDown: 3 }, done], { interval: 2 })).waits).toEqual([2, 9, 9]);
  });

  it('returns the response of the issuer', async () => {
    expect((await poll([done])).body).toEqual({ access_token: 'a' });
  });

  it('ends with the life of the code', async () => {
    const { body, waits } = await poll([], { interval: 5, lifetime: 12 });

    expect(body).toBe('The code has expired before it was confirmed');
    expect(waits).toEqual([5, 5, 5]);
  });
});
