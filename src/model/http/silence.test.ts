import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Silence } from './silence.ts';

const patience = { connectMs: 1, firstByteMs: 1000, betweenMs: 100 };

function listening(outer = new AbortController()) {
  const silence = new Silence(patience, outer.signal);
  /** Lets time pass; answers what the silence has come to by then. */
  const passed = (ms: number) => {
    vi.advanceTimersByTime(ms);
    return silence.failure?.message;
  };
  return { silence, passed, outer };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a server that falls silent', () => {
  it('before it has begun is waited for as long as the first byte may take', () => {
    const { silence, passed } = listening();

    expect(passed(999)).toBeUndefined();
    expect(passed(1)).toBe('The model did not begin to answer within 1000 ms');
    expect(silence.failure?.code).toBe('stalled');
    expect(silence.signal.reason).toBe(silence.failure);
  });

  it('in the middle is waited for from the last thing it said', () => {
    const { silence, passed } = listening();
    silence.broken();

    expect(passed(99)).toBeUndefined();
    silence.broken();
    expect(passed(99)).toBeUndefined();
    expect(passed(1)).toBe('The model stopped in the middle of its answer and did not go on within 100 ms');
  });

  it('has said everything and does not end is waited for only a moment', () => {
    const { silence, passed } = listening();
    silence.broken();
    silence.shorten(10);

    expect(passed(10)).toBe('The model did not end its answer within 10 ms');
  });

  it('is not given more than usual by that', () => {
    const { silence, passed } = listening();
    silence.broken();
    silence.shorten(5000);

    expect(passed(100)).toContain('did not end');
  });
});

it('silence does not count while nobody listens, and counts from the beginning when somebody does again', () => {
  const { silence, passed } = listening();
  silence.broken();
  silence.listen(false);

  expect(passed(100_000)).toBeUndefined();
  silence.listen(true);
  expect(passed(99)).toBeUndefined();
  expect(passed(1)).toContain('in the middle');
});

it('silence does not count while others work, be it in vain', async () => {
  const { silence, passed } = listening();
  let fail = (_error: Error) => {};
  const others = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const work = silence.without(others).catch(({ message }: Error) => message);

  expect(passed(100_000)).toBeUndefined();
  fail(new Error('in vain'));
  expect(await work).toBe('in vain');
  expect(passed(999)).toBeUndefined();
  expect(passed(1)).toContain('did not begin');
});

it('nothing is too long after the end', () => {
  const { silence, passed, outer } = listening();
  silence.end();

  expect(passed(100_000)).toBeUndefined();
  outer.abort();
  expect(silence.signal.aborted).toBe(false);
});

it('follows the signal around it, which is no failure', () => {
  const { silence, outer } = listening();

  outer.abort('enough');

  expect(silence.signal.reason).toBe('enough');
  expect(silence.failure).toBeUndefined();
  silence.end();
});

it('follows one that has aborted already', () => {
  const outer = new AbortController();
  outer.abort('before');

  const { silence } = listening(outer);
  silence.end();

  expect(silence.signal.reason).toBe('before');
});

it('a server that has said everything is given what is left, whatever else it says', () => {
  const { silence, passed } = listening();
  silence.broken();
  silence.shorten(50);

  for (let pings = 0; pings < 4; pings++) {
    expect(passed(10)).toBeUndefined();
    silence.broken();
    silence.listen(true);
    silence.shorten(50);
  }

  expect(passed(10)).toBe('The model did not end its answer within 50 ms');
});
