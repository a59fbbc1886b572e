import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StallTimer } from './stall-timer.ts';

const timeouts = { connectMs: 1, firstByteMs: 1000, betweenMs: 100 };

function startTimer(outer = new AbortController()) {
  const stallTimer = new StallTimer(timeouts, outer.signal);
  /** Lets time pass; returns the failure so far. */
  const failureAfter = (ms: number) => {
    vi.advanceTimersByTime(ms);
    return stallTimer.failure?.message;
  };
  return { stallTimer, failureAfter, outer };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a stalled server', () => {
  it('fails after the first-byte timeout if it has sent nothing', () => {
    const { stallTimer, failureAfter } = startTimer();

    expect(failureAfter(999)).toBeUndefined();
    expect(failureAfter(1)).toBe('The model did not begin to answer within 1000 ms');
    expect(stallTimer.failure?.code).toBe('stalled');
    expect(stallTimer.signal.reason).toBe(stallTimer.failure);
  });

  it('fails after the between-chunks timeout, counted from its last data', () => {
    const { stallTimer, failureAfter } = startTimer();
    stallTimer.onData();

    expect(failureAfter(99)).toBeUndefined();
    stallTimer.onData();
    expect(failureAfter(99)).toBeUndefined();
    expect(failureAfter(1)).toBe('The model stopped in the middle of its answer and did not continue within 100 ms');
  });

  it('fails soon after a complete response that it does not end', () => {
    const { stallTimer, failureAfter } = startTimer();
    stallTimer.onData();
    stallTimer.startEndTimeout(10);

    expect(failureAfter(10)).toBe('The model did not end its answer within 10 ms');
  });

  it('never gets more than the between-chunks timeout to end', () => {
    const { stallTimer, failureAfter } = startTimer();
    stallTimer.onData();
    stallTimer.startEndTimeout(5000);

    expect(failureAfter(100)).toContain('did not end');
  });
});

it('the timeout is suspended while the consumer works, and restarts from zero', () => {
  const { stallTimer, failureAfter } = startTimer();
  stallTimer.onData();
  stallTimer.setCounting(false);

  expect(failureAfter(100_000)).toBeUndefined();
  stallTimer.setCounting(true);
  expect(failureAfter(99)).toBeUndefined();
  expect(failureAfter(1)).toContain('in the middle');
});

it('the timeout is suspended during other work, even if that fails', async () => {
  const { stallTimer, failureAfter } = startTimer();
  let fail = (_error: Error) => {};
  const others = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const work = stallTimer.pauseDuring(others).catch(({ message }: Error) => message);

  expect(failureAfter(100_000)).toBeUndefined();
  fail(new Error('in vain'));
  expect(await work).toBe('in vain');
  expect(failureAfter(999)).toBeUndefined();
  expect(failureAfter(1)).toContain('did not begin');
});

it('a stopped timer never fails', () => {
  const { stallTimer, failureAfter, outer } = startTimer();
  stallTimer.stop();

  expect(failureAfter(100_000)).toBeUndefined();
  outer.abort();
  expect(stallTimer.signal.aborted).toBe(false);
});

it('an abort of the outer signal is followed and is no failure', () => {
  const { stallTimer, outer } = startTimer();

  outer.abort('enough');

  expect(stallTimer.signal.reason).toBe('enough');
  expect(stallTimer.failure).toBeUndefined();
  stallTimer.stop();
});

it('an outer signal that has already aborted is followed', () => {
  const outer = new AbortController();
  outer.abort('before');

  const { stallTimer } = startTimer(outer);
  stallTimer.stop();

  expect(stallTimer.signal.reason).toBe('before');
});

it('data after a complete response does not extend the final timeout', () => {
  const { stallTimer, failureAfter } = startTimer();
  stallTimer.onData();
  stallTimer.startEndTimeout(50);

  for (let pings = 0; pings < 4; pings++) {
    expect(failureAfter(10)).toBeUndefined();
    stallTimer.onData();
    stallTimer.setCounting(true);
    stallTimer.startEndTimeout(50);
  }

  expect(failureAfter(10)).toBe('The model did not end its answer within 50 ms');
});
