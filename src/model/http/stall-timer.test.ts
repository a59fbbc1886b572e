import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StallTimer } from './stall-timer.ts';

const timeouts = { connectMs: 1, firstByteMs: 1000, betweenMs: 100 };

function startTimer(outer = new AbortController()) {
  const stallTimer = new StallTimer(timeouts, outer.signal);
  /** Lets time pass; answers what the silence has come to by then. */
  const failureAfter = (ms: number) => {
    vi.advanceTimersByTime(ms);
    return stallTimer.failure?.message;
  };
  return { stallTimer, failureAfter, outer };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a server that falls silent', () => {
  it('before it has begun is waited for as long as the first byte may take', () => {
    const { stallTimer, failureAfter } = startTimer();

    expect(failureAfter(999)).toBeUndefined();
    expect(failureAfter(1)).toBe('The model did not begin to answer within 1000 ms');
    expect(stallTimer.failure?.code).toBe('stalled');
    expect(stallTimer.signal.reason).toBe(stallTimer.failure);
  });

  it('in the middle is waited for from the last thing it said', () => {
    const { stallTimer, failureAfter } = startTimer();
    stallTimer.onData();

    expect(failureAfter(99)).toBeUndefined();
    stallTimer.onData();
    expect(failureAfter(99)).toBeUndefined();
    expect(failureAfter(1)).toBe('The model stopped in the middle of its answer and did not go on within 100 ms');
  });

  it('has said everything and does not end is waited for only a moment', () => {
    const { stallTimer, failureAfter } = startTimer();
    stallTimer.onData();
    stallTimer.startEndTimeout(10);

    expect(failureAfter(10)).toBe('The model did not end its answer within 10 ms');
  });

  it('is not given more than usual by that', () => {
    const { stallTimer, failureAfter } = startTimer();
    stallTimer.onData();
    stallTimer.startEndTimeout(5000);

    expect(failureAfter(100)).toContain('did not end');
  });
});

it('silence does not count while nobody listens, and counts from the beginning when somebody does again', () => {
  const { stallTimer, failureAfter } = startTimer();
  stallTimer.onData();
  stallTimer.setCounting(false);

  expect(failureAfter(100_000)).toBeUndefined();
  stallTimer.setCounting(true);
  expect(failureAfter(99)).toBeUndefined();
  expect(failureAfter(1)).toContain('in the middle');
});

it('silence does not count while others work, be it in vain', async () => {
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

it('nothing is too long after the end', () => {
  const { stallTimer, failureAfter, outer } = startTimer();
  stallTimer.stop();

  expect(failureAfter(100_000)).toBeUndefined();
  outer.abort();
  expect(stallTimer.signal.aborted).toBe(false);
});

it('follows the signal around it, which is no failure', () => {
  const { stallTimer, outer } = startTimer();

  outer.abort('enough');

  expect(stallTimer.signal.reason).toBe('enough');
  expect(stallTimer.failure).toBeUndefined();
  stallTimer.stop();
});

it('follows one that has aborted already', () => {
  const outer = new AbortController();
  outer.abort('before');

  const { stallTimer } = startTimer(outer);
  stallTimer.stop();

  expect(stallTimer.signal.reason).toBe('before');
});

it('a server that has said everything is given what is left, whatever else it says', () => {
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
