import { expect, it } from 'vitest';
import { FORGIVE_MS, FREE_FAILURES, MAX_ADDRESSES, MAX_FAILURES_A_MINUTE, Throttle } from './throttle.ts';

function throttle() {
  let now = 0;
  const limiter = new Throttle(() => now);
  const fail = (address: string, times = 1) => {
    for (let count = 0; count < times; count++) limiter.failed(address);
  };
  const pass = (ms: number) => {
    now += ms;
  };
  return { gate: limiter, fail, pass };
}

it('each further failure of an address doubles its wait up to a minute, and other addresses do not wait', () => {
  const { gate: limiter, fail } = throttle();
  const waits: number[] = [];

  fail('1.2.3.4', FREE_FAILURES - 1);
  for (let count = 0; count < 9; count++) {
    waits.push(limiter.waitMs('1.2.3.4'));
    fail('1.2.3.4');
  }

  expect(waits).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  expect(limiter.waitMs('1.2.3.5')).toBe(0);
});

it('the wait ends, the next failure starts a longer one, and a quiet period resets the count', () => {
  const { gate: limiter, fail, pass } = throttle();
  fail('a', FREE_FAILURES);

  pass(999);
  expect(limiter.waitMs('a')).toBe(1);
  pass(1);
  expect(limiter.waitMs('a')).toBe(0);
  fail('a');
  expect(limiter.waitMs('a')).toBe(2000);
  pass(FORGIVE_MS);
  fail('a');
  expect(limiter.waitMs('a')).toBe(0);
});

it('after too many failures in a minute, wrong tokens of all addresses wait for its end', () => {
  const { gate: limiter, fail, pass } = throttle();
  fail('first');
  pass(20_000);

  for (let count = 1; count < MAX_FAILURES_A_MINUTE; count++) fail(`10.0.${count >> 8}.${count & 255}`);

  expect(limiter.waitMs('stranger')).toBe(40_000);
  pass(40_000);
  expect(limiter.waitMs('stranger')).toBe(0);
});

it('[A21] no wait is longer than a minute, even if the clock jumps back', () => {
  const { gate: limiter, fail, pass } = throttle();
  fail('a', FREE_FAILURES);
  pass(-24 * 60 * 60_000);

  expect(limiter.waitMs('a')).toBe(60_000);
});

it.each([
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['2001:db8::1', '2001:db8::2:1', '2001:db8:0:1::1'],
  ['fe80::1%eth0', 'fe80::2', 'fe81::1'],
  ['::ffff:1.2.3.4', '1.2.3.4', '::ffff:1.2.3.5'],
])('%s shares its count with %s and not with %s', (address, neighbour, otherNetwork) => {
  const { gate: limiter, fail } = throttle();

  fail(address, FREE_FAILURES);

  expect([limiter.waitMs(neighbour), limiter.waitMs(otherNetwork)]).toEqual([1000, 0]);
});

it('beyond the limit the address with the oldest activity is forgotten', () => {
  const { gate: limiter, fail, pass } = throttle();
  for (const address of ['old', 'kept']) fail(address, FREE_FAILURES);
  fail('1.1.1.1');
  for (let count = 0; count < MAX_ADDRESSES - 3; count++) fail(`host-${count}`);
  fail('kept');
  fail('new');
  pass(60_000);

  for (const address of ['kept', 'old']) fail(address);

  expect(limiter.waitMs('kept')).toBe(4000);
  expect(limiter.waitMs('old')).toBe(0);
});
