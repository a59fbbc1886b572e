import { describe, expect, it } from 'vitest';
import { ModelFailure } from '../request.ts';
import { CredentialCache, type ExpiringValue } from './credential-cache.ts';

const MINUTE = 60_000;
const signal = new AbortController().signal;

/** Credentials that are counted, and obtained when the test releases them. */
function counted(lifeMs?: number) {
  let count = 0;
  const waiting: (() => void)[] = [];
  const obtain = async (): Promise<ExpiringValue<number>> => {
    count += 1;
    const value = count;
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { value, expiresAt: lifeMs === undefined ? undefined : Date.now() + lifeMs };
  };
  return { obtain, release: () => waiting.splice(0).forEach((resolve) => void resolve()), count: () => count };
}

describe('a credential', () => {
  it('is obtained once for requests at the same time and after it', async () => {
    const { obtain, release, count } = counted();
    const cache = new CredentialCache();

    const both = Promise.all([cache.get('a', obtain, signal), cache.get('a', obtain, signal)]);
    release();

    expect(await both).toEqual([1, 1]);
    expect(await cache.get('a', obtain, signal)).toBe(1);
    expect(count()).toBe(1);
  });

  it('is obtained again when fewer than five minutes are left, or after it was dropped', async () => {
    const { obtain, release, count } = counted(4 * MINUTE);
    const cache = new CredentialCache();
    const get = () => {
      const pending = cache.get('a', obtain, signal);
      release();
      return pending;
    };

    expect([await get(), await get()]).toEqual([1, 2]);

    const lasting = counted(60 * MINUTE);
    const first = cache.get('b', lasting.obtain, signal);
    lasting.release();
    await first;
    cache.drop('b');
    const second = cache.get('b', lasting.obtain, signal);
    lasting.release();
    expect(await second).toBe(2);
    expect(count()).toBe(2);
  });

  it('reaches the other requests when one of them is aborted', async () => {
    const { obtain, release } = counted();
    const cache = new CredentialCache();
    const controller = new AbortController();

    const aborted = cache.get('a', obtain, controller.signal);
    const other = cache.get('a', obtain, signal);
    controller.abort(new Error('enough'));

    await expect(aborted).rejects.toThrow('enough');
    release();
    expect(await other).toBe(1);
  });

  it('that cannot be obtained is tried again by the next request', async () => {
    const cache = new CredentialCache();
    const failing = () => Promise.reject(new Error('no luck'));

    await expect(cache.get('a', failing, signal)).rejects.toEqual(new ModelFailure('auth_failed', 'no luck'));
    expect(await cache.get('a', async () => ({ value: 'now', expiresAt: undefined }), signal)).toBe('now');
  });

  it('that has expired already fails the request', async () => {
    const expired = async () => ({ value: 'old', expiresAt: Date.now() - 1 });

    await expect(new CredentialCache().get('a', expired, signal)).rejects.toThrow('expired: sign in again');
  });
});
