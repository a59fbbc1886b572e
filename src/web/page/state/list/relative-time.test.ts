import { expect, it } from 'vitest';
import { ago, dayGroup } from './relative-time.ts';

const now = new Date(2026, 4, 20, 12, 30).getTime();
const before = (days: number, hours = 0, minutes = 0) => now - ((days * 24 + hours) * 60 + minutes) * 60_000;

it.each([
  [now + 5000, 'now'],
  [before(0, 0, 0.9), 'now'],
  [before(0, 0, 3), '3\u00a0min'],
  [before(0, 0, 59), '59\u00a0min'],
  [before(0, 2), '2\u00a0h'],
  [before(1), '1\u00a0d'],
  [before(6, 23), '6\u00a0d'],
])('%d is shown as %s', (then, words) => {
  expect(ago(then, now)).toBe(words);
});

it('an invalid time gives an empty text', () => {
  expect(ago(Date.parse('some day'), now)).toBe('');
});

it('an older time shows its day, and its year if that is not this year', () => {
  expect(ago(before(8), now)).not.toContain('2026');
  expect(ago(before(400), now)).toContain('2025');
});

it.each([
  [now + 60_000, 'Today'],
  [before(0, 12), 'Today'],
  [before(0, 12, 31), 'Yesterday'],
  [before(1, 12), 'Yesterday'],
  [before(1, 12, 31), 'This week'],
  [before(6), 'This week'],
  [before(7), 'Older'],
])('%d belongs to the group %s', (then, part) => {
  expect(dayGroup(then, now)).toBe(part);
});

it('a day ends at midnight, also when the clocks change', () => {
  for (let hour = 0; hour < 24 * 400; hour++) {
    const then = now - hour * 3_600_000;
    const isToday = new Date(then).toDateString() === new Date(now).toDateString();
    expect(dayGroup(then, now) === 'Today').toBe(isToday);
  }
});
