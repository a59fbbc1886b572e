import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AssistantMessageEvent, ToolExecutionUpdateEvent } from '../protocol/generated/vocabulary.ts';
import { applyStep } from '../wire/assistant-message.ts';
import { type Dialect, defaultDialect } from '../wire/dialect.ts';
import { toLine } from '../wire/json-lines.ts';
import { SlowReader } from '../wire/testing/slow-reader.ts';
import { anyStream, empty } from '../wire/testing/streams.ts';
import { lineQueue, MAX_BACKLOG } from './line-queue.ts';

const delta: Dialect = { ...defaultDialect, stream: 'delta' };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A queue, its reader, and a function that streams steps into it. */
function setUp(dialect: Dialect = delta) {
  const reader = new SlowReader();
  const queue = lineQueue(reader, dialect);
  let message = empty;
  const stream = (...steps: AssistantMessageEvent[]) => {
    for (const step of steps) {
      message = applyStep(message, step);
      queue.publish({ event: { type: 'message_update', assistantMessageEvent: step }, snapshot: message });
    }
  };
  return { reader, queue, stream };
}

/** A queue whose next deltas are spaced, because many of their block were sent. */
function setUpSpaced(dialect: Dialect = delta) {
  const parts = setUp(dialect);
  parts.stream({ type: 'text_start', contentIndex: 0 }, ...Array.from({ length: 32 }, () => text('.')));
  parts.reader.lines.length = 0;
  return parts;
}

/** A reader that has just taken a record and is behind now. */
function setUpBehind(dialect: Dialect = delta) {
  const parts = setUp(dialect);
  parts.reader.capacity = 1;
  parts.queue.send(toLine({ type: 'first' }));
  parts.reader.lines.length = 0;
  return parts;
}

const text = (words: string, contentIndex = 0) => ({ type: 'text_delta' as const, contentIndex, delta: words });
const update = (toolCallId: string, content: string): ToolExecutionUpdateEvent => ({
  type: 'tool_execution_update',
  toolCallId,
  toolName: 'bash',
  args: {},
  partialResult: { content: [{ type: 'text', text: content }] },
});
const steps = (reader: SlowReader): AssistantMessageEvent[] =>
  reader.records.map(({ assistantMessageEvent }) => assistantMessageEvent);

/** Merges consecutive deltas of one block. */
function merged<T extends { type: string }>(records: readonly T[]): unknown[] {
  const result: Record<string, unknown>[] = [];
  for (const record of records) {
    const { delta: added, ...own } = record as T & { delta?: string };
    const { delta: before, ...last } = result.at(-1) ?? {};
    if (added !== undefined && before !== undefined && JSON.stringify(last) === JSON.stringify(own)) {
      Object.assign(result.at(-1) ?? {}, { delta: `${before}${added}` });
    } else result.push({ ...record });
  }
  return result;
}

/** Events between the steps of a message, in any order. */
const anyTurn = fc.oneof(
  { weight: 6, arbitrary: fc.constant('step' as const) },
  fc.constant('other' as const),
  fc.constant('behind' as const),
  fc.constant('drain' as const),
  fc.constant('time' as const),
);

/** Streams a message with these events in between; returns everything that was queued, in order. */
function play(parts: ReturnType<typeof setUp>, updates: readonly AssistantMessageEvent[], turns: readonly string[]) {
  const { reader, queue, stream } = parts;
  const sent: { type: string }[] = [];
  const waiting = [...updates];
  for (const [index, turn] of [...turns, ...updates.map(() => 'step')].entries()) {
    const step = turn === 'step' ? waiting.shift() : undefined;
    if (step) {
      sent.push(step);
      stream(step);
    } else if (turn === 'other') {
      sent.push({ type: `other ${index}` });
      queue.send(toLine({ type: `other ${index}` }));
    } else if (turn === 'behind') reader.capacity = 1;
    else if (turn === 'drain') reader.drain(3);
    else if (turn === 'time') vi.advanceTimersByTime(10);
  }
  reader.drain();
  void queue.flush();
  return sent;
}

describe('the order', () => {
  it('[F18] is kept, no text is lost, and only consecutive deltas of one block are merged', () => {
    fc.assert(
      fc.property(anyStream, fc.array(anyTurn), ({ steps: streamed }, turns) => {
        const parts = setUp();

        const sent = play(parts, streamed, turns);

        const received = parts.reader.records.map((record) => record.assistantMessageEvent ?? record);
        expect(merged(received)).toEqual(merged(sent));
        expect(received.length).toBeLessThanOrEqual(sent.length);
      }),
    );
  });

  it('leaves every snapshot equal to the message that the deltas before it make', () => {
    fc.assert(
      fc.property(anyStream, fc.array(anyTurn), ({ steps: streamed }, turns) => {
        const parts = setUp(defaultDialect);

        play(parts, streamed, turns);

        let message = empty;
        for (const record of parts.reader.records) {
          if (record.type !== 'message_update') continue;
          const { partial, ...step } = record.assistantMessageEvent;
          message = applyStep(message, step);
          expect(record.message).toEqual(message);
          expect(partial).toEqual(message);
        }
      }),
    );
  });

  it('[F18 M24] sends pending updates before any other record', () => {
    const { reader, queue, stream } = setUpSpaced();

    stream(text('a'), text('b'), text('c'));
    queue.publish({ event: { type: 'turn_start' } });

    expect(reader.records.map(({ type }) => type)).toEqual(['message_update', 'message_update', 'turn_start']);
    expect(steps(reader)[1]).toEqual(text('bc'));
  });

  it('sends the older name directly after the new one', () => {
    const { reader, queue } = setUp();

    queue.publish({ event: { type: 'compaction_start', reason: 'overflow' } });

    expect(reader.records).toEqual([
      { type: 'compaction_start', reason: 'overflow' },
      { type: 'auto_compaction_start', reason: 'overflow' },
    ]);
  });
});

describe('updates', () => {
  it('[M22 M23] are sent at once to an idle reader, and merged for a busy one', () => {
    const { reader, stream } = setUpSpaced();

    stream(text('a'), text('b'), text('c'));
    const first = steps(reader);
    vi.advanceTimersByTime(16);

    expect(first).toEqual([text('a')]);
    expect(steps(reader)).toEqual([text('a'), text('bc')]);
  });

  it('[M23] give a large record the time of 4 MB per second', () => {
    const { reader, stream } = setUp();
    const large = 'x'.repeat(4 * 1024 * 100);
    stream({ type: 'text_start', contentIndex: 0 });
    stream(text(large));

    stream(text('a'));
    vi.advanceTimersByTime(99);
    const early = reader.lines.length;
    vi.advanceTimersByTime(2);

    expect(early).toBe(2);
    expect(steps(reader).slice(2)).toEqual([text('a')]);
  });

  it('of different blocks are not merged', () => {
    const { reader, stream } = setUpBehind();

    stream(text('a', 0), text('b', 1), text('c', 1), text('d', 0));
    reader.drain();

    expect(steps(reader)).toEqual([text('a', 0), text('bc', 1), text('d', 0)]);
  });

  it('carry the newest usage', () => {
    const { reader, queue } = setUpBehind();
    const usage = (output: number) => ({ ...empty.usage, output });
    const usages = [usage(1), usage(2), undefined];

    for (const known of usages) {
      queue.publish({
        event: { type: 'message_update', assistantMessageEvent: text('a'), ...(known && { usage: known }) },
        snapshot: empty,
      });
    }
    reader.drain();

    expect(reader.records).toEqual([{ type: 'message_update', assistantMessageEvent: text('aaa'), usage: usage(2) }]);
  });

  it('of a tool are dropped for its next one, which waits behind the others', () => {
    const { reader, queue } = setUpBehind();

    for (const record of [update('a', '1'), update('b', '1'), update('a', '2'), update('a', '3')])
      queue.publish({ event: record });
    queue.publish({ event: { type: 'turn_start' } });
    queue.publish({ event: update('a', '4') });
    reader.drain();
    vi.runAllTimers();

    expect(reader.records).toEqual([update('b', '1'), update('a', '3'), { type: 'turn_start' }, update('a', '4')]);
  });

  it('are formatted in the dialect at the time of sending', () => {
    const { reader, queue, stream } = setUpBehind();

    stream({ type: 'text_start', contentIndex: 0 });
    queue.dialect = defaultDialect;
    reader.drain();

    expect(reader.records[0]).toMatchObject({ message: { content: [{ type: 'text', text: '' }] } });
  });
});

describe('a message with large updates', () => {
  it('[M23] keeps its spacing even when each update exceeds the capacity of the link', () => {
    const { reader, stream } = setUp(defaultDialect);
    stream({ type: 'text_start', contentIndex: 0 }, text('x'.repeat(2 * MAX_BACKLOG)));
    const before = reader.lines.length;

    for (let count = 0; count < 100; count++) {
      reader.capacity = 1;
      stream(text('a'));
      reader.drain(1);
      vi.advanceTimersByTime(1);
    }

    expect(reader.lines.length - before).toBeLessThan(3);
  });
});

describe('a reader that never drains', () => {
  it('[M25] has at most the backlog and one record pending', () => {
    const { queue } = setUpBehind();
    const record = { type: 'other', text: 'x'.repeat(1000) };
    const size = toLine(record).length;
    const underWay = toLine({ type: 'first' }).length;

    while (queue.drained() === undefined) queue.send(toLine(record));

    expect(queue.backlog).toBe(size * (Math.floor((MAX_BACKLOG - underWay) / size) + 1));
  });

  it('does not pause the text of one block: it waits as one update', () => {
    const { reader, queue, stream } = setUpBehind();

    for (let count = 0; count < 40_000; count++) stream(text('abcd'));
    const room = queue.drained();
    reader.drain();

    expect(room).toBeUndefined();
    expect(steps(reader)).toEqual([text('abcd'.repeat(40_000))]);
  });

  it('pauses a message of many blocks, each of which would repeat all before it', () => {
    const { queue, stream } = setUpBehind(defaultDialect);
    let blocks = 0;

    while (queue.drained() === undefined) {
      stream({ type: 'text_start', contentIndex: blocks }, text('a', blocks));
      blocks++;
    }

    expect(blocks).toBeLessThan(10);
  });
});

describe('drained', () => {
  it('[M25] is pending when the merged deltas are too long', () => {
    const { reader, queue, stream } = setUpBehind();
    stream({ type: 'text_start', contentIndex: 0 });
    let length = 0;
    for (; queue.drained() === undefined && length < 10 * MAX_BACKLOG; length += 1000) stream(text('x'.repeat(1000)));

    expect(length).toBeLessThan(MAX_BACKLOG + 2000);
    reader.drain();
    expect(queue.drained()).toBeUndefined();
  });

  /** A queue that is full of lines. */
  function setUpFull() {
    const parts = setUpBehind();
    for (let count = 0; count < 3; count++)
      parts.queue.send(toLine({ type: 'other', text: 'x'.repeat(MAX_BACKLOG / 2) }));
    return parts;
  }

  it('settles when the reader has caught up by half, not before', async () => {
    const { reader, queue } = setUpFull();
    let settled = false;
    const room = queue.drained()?.then(() => {
      settled = true;
    });

    reader.drain(1);
    await Promise.resolve();
    const early = settled;
    reader.drain();
    await room;

    expect(early).toBe(false);
    expect(queue.drained()).toBeUndefined();
    expect(queue.backlog).toBe(0);
  });

  it('settles when updates were all that waited', async () => {
    const { reader, queue, stream } = setUpBehind();
    for (let block = 0; block < 10; block++) stream({ type: 'text_start', contentIndex: block });

    const room = queue.drained();
    reader.drain();
    await room;

    expect(room).toBeInstanceOf(Promise);
    expect(reader.lines).toHaveLength(10);
  });

  it('settles when the queue is closed', async () => {
    const { queue } = setUpFull();

    const room = queue.drained();
    queue.close();
    await room;

    expect(queue.drained()).toBeUndefined();
  });
});

describe('the end of a queue', () => {
  it('flush settles when the reader has taken everything, also delayed updates', async () => {
    const { reader, queue, stream } = setUp();
    stream({ type: 'text_start', contentIndex: 0 }, text('a'));
    reader.capacity = 1;
    queue.send(toLine({ type: 'other' }));
    queue.send(toLine({ type: 'last' }));
    let flushed = false;

    const flush = queue.flush().then(() => {
      flushed = true;
    });
    await Promise.resolve();
    const early = flushed;
    reader.drain();
    await flush;

    expect(early).toBe(false);
    expect(reader.records.at(-1)).toEqual({ type: 'last' });
  });

  it('flush settles when the queue is closed', async () => {
    const { queue } = setUpBehind();
    queue.send(toLine({ type: 'other' }));

    const flush = queue.flush();
    queue.close();

    await expect(flush).resolves.toBeUndefined();
  });

  it('a closed queue sends nothing', () => {
    const { reader, queue, stream } = setUp();
    stream({ type: 'text_start', contentIndex: 0 }, text('a'));
    const before = reader.lines.length;

    queue.close();
    queue.send(toLine({ type: 'other' }));
    queue.publish({ event: update('a', '1') });
    stream(text('b'));
    vi.runAllTimers();

    expect(reader.lines).toHaveLength(before);
    expect(queue.backlog).toBe(0);
  });
});
