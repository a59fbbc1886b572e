import { expect, it, vi } from 'vitest';
import { owner } from './grant.ts';
import { CODE_LIFE_MS, LoginCodes, MAX_CODES } from './login-codes.ts';

it('[A15] a code can be redeemed once', () => {
  const codes = new LoginCodes();
  const [one, two] = [codes.issue(owner), codes.issue({ ...owner, id: 'other' })];

  expect(one).toMatch(/^[\w-]{43}$/);
  expect([codes.redeem('nonsense'), codes.redeem(''), codes.redeem(one), codes.redeem(one)]).toEqual([
    undefined,
    undefined,
    owner,
    undefined,
  ]);
  expect(codes.redeem(two)).toMatchObject({ id: 'other' });
});

it('[A15 A21] a code expires after ten minutes, whatever the wall clock', () => {
  vi.useFakeTimers();
  try {
    const codes = new LoginCodes();
    const [early, late] = [codes.issue(owner), codes.issue(owner)];

    vi.advanceTimersByTime(CODE_LIFE_MS - 1);
    vi.setSystemTime(Date.now() + 24 * 60 * 60_000);
    expect(codes.redeem(early)).toBe(owner);
    vi.setSystemTime(Date.now() - 48 * 60 * 60_000);
    vi.advanceTimersByTime(1);
    expect(codes.redeem(late)).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

it('beyond the limit the oldest code is dropped', () => {
  const codes = new LoginCodes();
  const issued = Array.from({ length: MAX_CODES + 1 }, () => codes.issue(owner));

  const redeemed = issued.map((code) => codes.redeem(code));

  expect(redeemed.filter(Boolean)).toHaveLength(MAX_CODES);
  expect(redeemed[0]).toBeUndefined();
});
