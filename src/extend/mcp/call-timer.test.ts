import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CallLimits, CallTimer } from './call-timer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function started(limits: CallLimits) {
  const expired: string[] = [];
  const timer = new CallTimer(limits, (limit) => expired.push(limit));
  timer.resume();
  return { timer, expired };
}

it('[N56] an idle time ends a call, and progress starts it over', () => {
  const { timer, expired } = started({ idleMs: 100, totalMs: 1000 });

  vi.advanceTimersByTime(99);
  timer.touch();
  vi.advanceTimersByTime(99);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);

  expect(expired).toEqual(['idleMs']);
});

it('[N56] progress does not extend the limit of the whole call', () => {
  const { timer, expired } = started({ idleMs: 100, totalMs: 250 });

  for (let step = 0; step < 4; step++) {
    vi.advanceTimersByTime(60);
    timer.touch();
  }
  vi.advanceTimersByTime(10);

  expect(expired).toEqual(['totalMs']);
});

it('[N56] time in which the server waits for the user does not count', () => {
  const { timer, expired } = started({ idleMs: 100, totalMs: 150 });

  vi.advanceTimersByTime(90);
  timer.pause();
  vi.advanceTimersByTime(10_000);
  timer.touch();
  expect(expired).toEqual([]);
  timer.resume();
  vi.advanceTimersByTime(59);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);

  expect(expired).toEqual(['totalMs']);
});
