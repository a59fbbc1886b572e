import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { defaultDialect } from '../wire/dialect.ts';
import { toLine } from '../wire/json-lines.ts';
import { SlowReader } from '../wire/testing/slow-reader.ts';
import { lineQueue } from './line-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const reader = new SlowReader();
  return { reader, queue: lineQueue(reader, defaultDialect) };
}

const lines = function* (count: number, made: number[]) {
  for (let index = 0; index < count; index++) {
    made.push(index);
    yield `{"type":"line ${index}"}\n`;
  }
};
const typesIn = (reader: SlowReader) => reader.records.map(({ type }) => type as string);

it('sendSeries generates lines as the reader takes them, and later records wait behind them', async () => {
  const { reader, queue } = setUp();
  const made: number[] = [];
  reader.capacity = 1;

  queue.send(toLine({ type: 'before' }));
  const out = queue.sendSeries(lines(5, made));
  queue.send(toLine({ type: 'after' }));
  expect(made).toEqual([]);
  reader.drain(2);
  expect(made.length).toBeLessThanOrEqual(2);
  reader.drain();
  await out;

  expect(typesIn(reader)).toEqual(['before', 'line 0', 'line 1', 'line 2', 'line 3', 'line 4', 'after']);
});

it('sendSeries lets other work run when the reader takes everything', async () => {
  const { reader, queue } = setUp();
  const made: number[] = [];

  const out = queue.sendSeries(lines(100_000, made));
  queue.send(toLine({ type: 'after' }));
  expect(made.length).toBeLessThan(100_000);
  await vi.runAllTimersAsync();
  await out;

  expect(made).toHaveLength(100_000);
  expect(typesIn(reader).at(-1)).toBe('after');
});

it('sendSeries settles when the queue is closed, and generates no more', async () => {
  const { reader, queue } = setUp();
  const made: number[] = [];
  reader.capacity = 1;
  queue.send(toLine({ type: 'before' }));

  const out = queue.sendSeries(lines(5, made));
  queue.close();
  await out;
  reader.drain();

  expect(made).toEqual([]);
  await queue.sendSeries(lines(5, made));
  expect(made).toEqual([]);
});
