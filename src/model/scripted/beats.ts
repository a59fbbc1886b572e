import type { Step } from '../draft.ts';
import type { UsageNews } from '../request.ts';
import { breath } from './wait.ts';

/** A bit of an answer: something to send, or something to wait for first. */
export type Beat = readonly (Step | UsageNews)[] | Promise<void>;

const BEATS_PER_BREATH = 128;

type Turn = IteratorResult<Step | UsageNews, undefined>;

/**
 * Streams an answer, letting others run now and then. Written out by hand: an async generator takes 40 % longer per
 * delta, and answers of many small deltas are what this model is for.
 */
export function stream(beats: Generator<Beat, void>, signal: AbortSignal): AsyncIterableIterator<Step | UsageNews> {
  let events: readonly (Step | UsageNews)[] = [];
  let sent = 0;
  let played = 0;

  const next = (): Promise<Turn> => {
    const value = events[sent];
    if (value !== undefined) {
      sent += 1;
      return Promise.resolve({ value, done: false });
    }
    return advance();
  };

  const advance = (): Promise<Turn> => {
    try {
      const { value: beat, done } = beats.next();
      if (done) return end();
      if (beat instanceof Promise) return beat.then(next, stop);
      events = beat;
      sent = 0;
      played += 1;
      return played % BEATS_PER_BREATH === 0 ? breath(signal).then(next, stop) : next();
    } catch (error) {
      return Promise.reject(error);
    }
  };

  const stop = (reason: unknown): never => {
    beats.return();
    throw reason;
  };

  const end = (): Promise<Turn> => {
    beats.return();
    return Promise.resolve({ value: undefined, done: true });
  };

  const iterator = { next, return: end, [Symbol.asyncIterator]: () => iterator };
  return iterator;
}
