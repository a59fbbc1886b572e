import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AssistantMessageEvent } from '../protocol/generated/vocabulary.ts';
import { applyStep } from '../wire/assistant-message.ts';
import { type Dialect, defaultDialect } from '../wire/dialect.ts';
import { SlowReader } from '../wire/testing/slow-reader.ts';
import { empty } from '../wire/testing/streams.ts';
import { lineQueue } from './line-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A reader of a queue, and a function that streams steps into the queue. */
function setUp(dialect: Dialect) {
  const reader = new SlowReader();
  const queue = lineQueue(reader, dialect);
  let message = empty;
  const stream = (...steps: AssistantMessageEvent[]) => {
    for (const step of steps) {
      message = applyStep(message, step);
      queue.publish({ event: { type: 'message_update', assistantMessageEvent: step }, snapshot: message });
    }
  };
  return { reader, stream };
}

const text = (delta: string, contentIndex: number) => ({ type: 'text_delta' as const, contentIndex, delta });
const steps = (reader: SlowReader): AssistantMessageEvent[] =>
  reader.records.map(({ assistantMessageEvent }) => assistantMessageEvent);

it('[M26] deltas of a short block are sent one by one, also after a long block', () => {
  const { reader, stream } = setUp({ ...defaultDialect, stream: 'delta' });
  const words = Array.from({ length: 20 }, (_, index) => text(`${index} `, 1));

  stream({ type: 'text_start', contentIndex: 0 }, ...Array.from({ length: 40 }, () => text('.', 0)));
  stream({ type: 'text_end', contentIndex: 0, content: '' });
  reader.lines.length = 0;
  stream({ type: 'text_start', contentIndex: 1 }, ...words, { type: 'text_end', contentIndex: 1, content: '' });

  expect(steps(reader).slice(1, -1)).toEqual(words);
});

it('[M26] deltas of a block in a large message in cumulative form are merged after the first', () => {
  const { reader, stream } = setUp(defaultDialect);
  const content = 'x'.repeat(100_000);
  stream({ type: 'text_start', contentIndex: 0 }, text(content, 0));
  stream({ type: 'text_end', contentIndex: 0, content }, { type: 'text_start', contentIndex: 1 });
  reader.lines.length = 0;

  stream(...Array.from({ length: 20 }, () => text('a', 1)), { type: 'text_end', contentIndex: 1, content: '' });

  expect(steps(reader)).toMatchObject([text('a', 1), text('a'.repeat(19), 1), { type: 'text_end' }]);
});
