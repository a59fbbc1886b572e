import { expect, it } from 'vitest';
import { BURST_LINES, BYTES_PER_LINE, CommandRate, MAX_EXCESS_LINES, LINES_PER_SECOND } from './command-rate.ts';

/** A rate whose clock stands until it is told to go on. */
function rateAt() {
  let now = 0;
  const rate = new CommandRate(() => now);
  const take = (count: number, bytes?: number) => Array.from({ length: count }, () => rate.take(bytes));
  const wait = (seconds: number) => {
    now += seconds * 1000;
  };
  return { take, wait };
}

it('takes a burst, refuses what is more, and sends away whoever does not stop', () => {
  const { take } = rateAt();

  expect(new Set(take(BURST_LINES))).toEqual(new Set(['ok']));
  expect(new Set(take(MAX_EXCESS_LINES))).toEqual(new Set(['refuse']));
  expect(take(1)).toEqual(['close']);
});

it('takes so many a second for good', () => {
  const { take, wait } = rateAt();
  take(BURST_LINES);

  for (let second = 0; second < 20; second++) {
    wait(1);
    expect(new Set(take(LINES_PER_SECOND))).toEqual(new Set(['ok']));
  }
});

it('is filled by a flood that is refused as it comes, however slowly it is read', () => {
  const { take, wait } = rateAt();
  const verdicts = Array.from({ length: BURST_LINES + 10 * MAX_EXCESS_LINES }, () => {
    wait(1 / (2 * LINES_PER_SECOND));
    return take(1)[0];
  });

  expect(verdicts.at(-1)).toBe('close');
});

it('counts long lines as many', () => {
  const { take } = rateAt();

  expect(take(3, (BURST_LINES / 2) * BYTES_PER_LINE)).toEqual(['ok', 'ok', 'refuse']);
});
