import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentEvent, AssistantMessageEvent } from '../protocol/generated/vocabulary.ts';
import { applyStep } from '../wire/assistant-message.ts';
import { defaultDialect } from '../wire/dialect.ts';
import { toLine } from '../wire/json-lines.ts';
import { SlowReader } from '../wire/testing/slow-reader.ts';
import { anySplitStream, empty } from '../wire/testing/streams.ts';
import { Broadcast } from './broadcast.ts';
import { lineQueue, MAX_BACKLOG } from './line-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function newSubscriber(options: { entries?: boolean } = {}) {
  const reader = new SlowReader();
  const eventQueue = lineQueue(reader, { ...defaultDialect, stream: 'delta' });
  return { reader, eventQueue, entries: options.entries ?? false };
}

const update = (step: AssistantMessageEvent): AgentEvent => ({ type: 'message_update', assistantMessageEvent: step });
const started: AgentEvent = { type: 'message_start', message: empty };
const ended: AgentEvent = { type: 'message_end', message: empty };
const text = (delta: string) => update({ type: 'text_delta', contentIndex: 0, delta });

/** The records of two subscribers: one from the start, and one that joins in the middle of a message. */
function recordsOf({ before, after }: { before: AgentEvent[]; after: AgentEvent[] }): [AgentEvent[], AgentEvent[]] {
  const broadcast = new Broadcast();
  const [early, late] = [newSubscriber(), newSubscriber()];
  broadcast.add(early);
  for (const event of before) broadcast.publish(event);
  broadcast.add(late);
  for (const event of [...after, ended]) broadcast.publish(event);
  return [early.reader.records, late.reader.records];
}

const stepsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'message_update' ? [event.assistantMessageEvent] : []));

const messageIn = (events: readonly AgentEvent[]) => stepsIn(events).reduce(applyStep, empty);

/** The concatenated deltas of each block. */
function deltasIn(events: readonly AgentEvent[]): string[] {
  const texts: string[] = [];
  for (const step of stepsIn(events)) {
    if ('delta' in step) texts[step.contentIndex] = (texts[step.contentIndex] ?? '') + step.delta;
  }
  return texts;
}

const othersIn = (events: readonly AgentEvent[]) => stepsIn(events).filter((step) => !('delta' in step));

describe('a subscriber', () => {
  it('receives the same events in the same order as the others', () => {
    const broadcast = new Broadcast();
    const both = [newSubscriber(), newSubscriber()];
    for (const one of both) broadcast.add(one);

    for (const event of [started, update({ type: 'text_start', contentIndex: 0 }), ended]) broadcast.publish(event);

    const [first, second] = both.map(({ reader }) => reader.records);
    expect(first).toEqual([started, update({ type: 'text_start', contentIndex: 0 }), ended]);
    expect(second).toEqual(first);
  });

  it('receives nothing before it is added and after it is removed', () => {
    const broadcast = new Broadcast();
    const one = newSubscriber();

    broadcast.publish({ type: 'agent_start' });
    broadcast.add(one);
    broadcast.publish({ type: 'turn_start' });
    broadcast.remove(one);
    broadcast.publish({ type: 'agent_start' });

    expect(one.reader.records).toEqual([{ type: 'turn_start' }]);
  });

  it('receives entries only if it requested them', () => {
    const broadcast = new Broadcast();
    const [withoutEntries, withEntries] = [newSubscriber(), newSubscriber({ entries: true })];
    const entry = { type: 'session_info' as const, id: 'a', parentId: null, timestamp: 't', name: 'n' };

    broadcast.add(withoutEntries);
    broadcast.add(withEntries);
    broadcast.publish({ type: 'entry_appended', entry });

    expect(withoutEntries.reader.records).toEqual([]);
    expect(withEntries.reader.records).toEqual([{ type: 'entry_appended', entry }]);
  });
});

describe('a subscriber that joins during a message', () => {
  it('receives the missed steps, and then the others', () => {
    const toolCall = { type: 'toolCall' as const, id: 'c1', name: 'wait', arguments: {} };
    const call = { type: 'toolcall_start' as const, contentIndex: 1, id: 'c1', toolName: 'wait' };
    const open = { type: 'toolcall_start' as const, contentIndex: 2, id: 'c2', toolName: 'read' };
    const piece = (delta: string) => update({ type: 'toolcall_delta', contentIndex: 2, delta });
    const whole = [
      update({ type: 'text_end', contentIndex: 0, content: 'so far' }),
      update(call),
      update({ type: 'toolcall_end', contentIndex: 1, toolCall }),
      update(open),
    ];

    const [, late] = recordsOf({
      before: [
        started,
        update({ type: 'text_start', contentIndex: 0 }),
        text('so '),
        text('far'),
        ...whole,
        piece('{"p'),
      ],
      after: [piece('ath"'), piece(':1}')],
    });

    expect(late).toEqual([
      started,
      update({ type: 'text_start', contentIndex: 0 }),
      text('so far'),
      ...whole,
      piece('{"p'),
      piece('ath"'),
      piece(':1}'),
      ended,
    ]);
  });

  it('receives the same message as one from the start, whenever it joins', () => {
    fc.assert(
      fc.property(anySplitStream, ({ before, after }) => {
        const [early, late] = recordsOf({ before: [started, ...before.map(update)], after: after.map(update) });

        expect(messageIn(late)).toEqual(messageIn(early));
        expect(deltasIn(late)).toEqual(deltasIn(early));
        expect(othersIn(late)).toEqual(othersIn(early));
      }),
    );
  });

  it('receives the latest usage', () => {
    const usage = { ...empty.usage, output: 7 };
    const begun = { ...update({ type: 'start' }), usage };

    const [early, late] = recordsOf({ before: [started, begun], after: [] });

    expect(early).toEqual([started, begun, ended]);
    expect(late).toEqual(early);
  });

  it('receives nothing of a message that has ended', () => {
    const broadcast = new Broadcast();
    for (const event of [started, update({ type: 'text_start', contentIndex: 0 }), text('a'), ended]) {
      broadcast.publish(event);
    }
    const late = newSubscriber();

    broadcast.add(late);

    expect(late.reader.records).toEqual([]);
  });
});

it('a broadcast has drained when its slowest subscriber has', async () => {
  const broadcast = new Broadcast();
  const [fast, slow] = [newSubscriber(), newSubscriber()];
  slow.reader.capacity = 1;
  broadcast.add(fast);
  broadcast.add(slow);
  const early = broadcast.drained();
  slow.eventQueue.send(toLine({ type: 'first' }));
  slow.eventQueue.send(toLine({ type: 'large', text: 'x'.repeat(MAX_BACKLOG) }));

  const room = broadcast.drained();
  slow.reader.drain();
  await room;

  expect(early).toBeUndefined();
  expect(room).toBeInstanceOf(Promise);
  expect(broadcast.drained()).toBeUndefined();
});
