import { expect, it, onTestFinished, vi } from 'vitest';
import { grantOf } from '../http/testing/test-server.ts';
import {
  BURST_LINES,
  BURST_LOOKUPS,
  BYTES_PER_LINE,
  CommandRate,
  LINES_PER_SECOND,
  LookupLimit,
  MAX_EXCESS_LINES,
  SnapshotBudget,
} from './command-limits.ts';

/** A rate limiter with a manual clock. */
function rateAt() {
  let now = 0;
  const rate = new CommandRate(() => now);
  const take = (count: number, bytes?: number) => Array.from({ length: count }, () => rate.take(bytes));
  const wait = (seconds: number) => {
    now += seconds * 1000;
  };
  return { take, wait };
}

it('a burst passes, more is refused, and a client that continues is closed', () => {
  const { take } = rateAt();

  expect(new Set(take(BURST_LINES))).toEqual(new Set(['ok']));
  expect(new Set(take(MAX_EXCESS_LINES))).toEqual(new Set(['refuse']));
  expect(take(1)).toEqual(['close']);
});

it('a client may send at the sustained rate without end', () => {
  const { take, wait } = rateAt();
  take(BURST_LINES);

  for (let second = 0; second < 20; second++) {
    wait(1);
    expect(new Set(take(LINES_PER_SECOND))).toEqual(new Set(['ok']));
  }
});

it('a refused flood fills the limit however slowly it is read', () => {
  const { take, wait } = rateAt();
  const verdicts = Array.from({ length: BURST_LINES + 10 * MAX_EXCESS_LINES }, () => {
    wait(1 / (2 * LINES_PER_SECOND));
    return take(1)[0];
  });

  expect(verdicts.at(-1)).toBe('close');
});

it('a long line counts as several', () => {
  const { take } = rateAt();

  expect(take(3, (BURST_LINES / 2) * BYTES_PER_LINE)).toEqual(['ok', 'ok', 'refuse']);
});

it('[W113] only searches without a result are limited, for each token with its logins', () => {
  let now = 0;
  const limit = new LookupLimit(() => now);
  const [ann, bob] = [grantOf('ann'), grantOf('bob')];
  for (let count = 0; count < 2 * BURST_LOOKUPS; count++) {
    expect(limit.take(ann)).toBe(true);
    limit.giveBack(ann);
  }
  for (let count = 0; count < BURST_LOOKUPS; count++) limit.take(ann);

  expect([limit.take(ann), limit.take({ ...ann, id: `${ann.id}/login` }), limit.take(bob)]).toEqual([
    false,
    false,
    true,
  ]);
  now = 1000;
  expect(limit.take(ann)).toBe(true);
  for (let count = 0; count < 10 * BURST_LOOKUPS; count++) limit.take(ann);
  now = 60_000;
  expect(limit.take(ann)).toBe(true);
});

it('[W106] a client that waits for the snapshots of others too long is refused, and is forgotten', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const budget = new SnapshotBudget();
  const clientOf = (name: string) => ({ identity: { grant: grantOf(name) } });
  const [first, second, third, stranger] = [clientOf('ann'), clientOf('ann'), clientOf('ann'), clientOf('bob')];
  await budget.reserve(first, HUGE_SNAPSHOT);
  const waiting = budget.reserve(second, HUGE_SNAPSHOT);
  await budget.reserve(stranger, HUGE_SNAPSHOT);

  vi.advanceTimersToNextTimer();
  await expect(waiting).rejects.toMatchObject({ code: 'overloaded', message: 'Too many conversations are unread' });
  const next = budget.reserve(third, HUGE_SNAPSHOT);
  budget.release(first);
  await next;

  expect(vi.getTimerCount()).toBe(0);
});

// More than half of what the clients of one token may leave unread.
const HUGE_SNAPSHOT = 40 * 1024 * 1024;
