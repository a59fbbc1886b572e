import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentEvent, AssistantMessageEvent } from '../protocol/generated/vocabulary.ts';
import { Broadcast } from './broadcast.ts';
import { plainDialect } from './dialect.ts';
import { fold } from './fold.ts';
import { MAX_BACKLOG, Outbox } from './outbox.ts';
import { SlowReader } from './testing/slow-reader.ts';
import { anyCutOff, opening } from './testing/streams.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

function listener(options: { entries?: boolean } = {}) {
  const reader = new SlowReader();
  const outbox = new Outbox(reader, { ...plainDialect, stream: 'delta' });
  return { reader, outbox, entries: options.entries ?? false };
}

const update = (step: AssistantMessageEvent): AgentEvent => ({ type: 'message_update', assistantMessageEvent: step });
const started: AgentEvent = { type: 'message_start', message: opening };
const ended: AgentEvent = { type: 'message_end', message: opening };
const text = (delta: string) => update({ type: 'text_delta', contentIndex: 0, delta });

/** What two clients were told of an answer: one that was there from the start, and one that came in the middle. */
function heardBy({ told, rest }: { told: AgentEvent[]; rest: AgentEvent[] }): [AgentEvent[], AgentEvent[]] {
  const audience = new Broadcast();
  const [early, late] = [listener(), listener()];
  audience.add(early);
  for (const event of told) audience.publish(event);
  audience.add(late);
  for (const event of [...rest, ended]) audience.publish(event);
  return [early.reader.records, late.reader.records];
}

const stepsIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === 'message_update' ? [event.assistantMessageEvent] : []));

const answerIn = (events: readonly AgentEvent[]) => stepsIn(events).reduce(fold, opening);

/** The text of each block as its deltas have it. */
function deltasIn(events: readonly AgentEvent[]): string[] {
  const texts: string[] = [];
  for (const step of stepsIn(events)) {
    if ('delta' in step) texts[step.contentIndex] = (texts[step.contentIndex] ?? '') + step.delta;
  }
  return texts;
}

const othersIn = (events: readonly AgentEvent[]) => stepsIn(events).filter((step) => !('delta' in step));

describe('whoever listens', () => {
  it('is told the same, in the same order', () => {
    const audience = new Broadcast();
    const both = [listener(), listener()];
    for (const one of both) audience.add(one);

    for (const event of [started, update({ type: 'text_start', contentIndex: 0 }), ended]) audience.publish(event);

    const [first, second] = both.map(({ reader }) => reader.records);
    expect(first).toEqual([started, update({ type: 'text_start', contentIndex: 0 }), ended]);
    expect(second).toEqual(first);
  });

  it('is told nothing before it came and after it left', () => {
    const audience = new Broadcast();
    const one = listener();

    audience.publish({ type: 'agent_start' });
    audience.add(one);
    audience.publish({ type: 'turn_start' });
    audience.remove(one);
    audience.publish({ type: 'agent_start' });

    expect(one.reader.records).toEqual([{ type: 'turn_start' }]);
  });

  it('is told of entries only if it wants to', () => {
    const audience = new Broadcast();
    const [without, with_] = [listener(), listener({ entries: true })];
    const entry = { type: 'session_info' as const, id: 'a', parentId: null, timestamp: 't', name: 'n' };

    audience.add(without);
    audience.add(with_);
    audience.publish({ type: 'entry_appended', entry });

    expect(without.reader.records).toEqual([]);
    expect(with_.reader.records).toEqual([{ type: 'entry_appended', entry }]);
  });
});

describe('whoever comes in the middle of an answer', () => {
  it('is told what it has missed, and then the rest', () => {
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

    const [, late] = heardBy({
      told: [
        started,
        update({ type: 'text_start', contentIndex: 0 }),
        text('so '),
        text('far'),
        ...whole,
        piece('{"p'),
      ],
      rest: [piece('ath"'), piece(':1}')],
    });

    expect(late).toEqual([
      started,
      update({ type: 'text_start', contentIndex: 0 }),
      text('so far'),
      ...whole,
      piece('{"path":1}'),
      ended,
    ]);
  });

  it('knows as much as whoever was there from the start, wherever it comes in', () => {
    fc.assert(
      fc.property(anyCutOff, ({ told, rest }) => {
        const [early, late] = heardBy({ told: [started, ...told.map(update)], rest: rest.map(update) });

        expect(answerIn(late)).toEqual(answerIn(early));
        expect(deltasIn(late)).toEqual(deltasIn(early));
        expect(othersIn(late)).toEqual(othersIn(early));
      }),
    );
  });

  it('is told the last that was said of the usage', () => {
    const usage = { ...opening.usage, output: 7 };
    const begun = { ...update({ type: 'start' }), usage };

    const [early, late] = heardBy({ told: [started, begun], rest: [] });

    expect(early).toEqual([started, begun, ended]);
    expect(late).toEqual(early);
  });

  it('is told of no answer that is over', () => {
    const audience = new Broadcast();
    for (const event of [started, update({ type: 'text_start', contentIndex: 0 }), text('a'), ended]) {
      audience.publish(event);
    }
    const late = listener();

    audience.add(late);

    expect(late.reader.records).toEqual([]);
  });
});

it('has room when the slowest has', async () => {
  const audience = new Broadcast();
  const [fast, slow] = [listener(), listener()];
  slow.reader.appetite = 1;
  audience.add(fast);
  audience.add(slow);
  const early = audience.room();
  slow.outbox.send({ type: 'first' });
  slow.outbox.send({ type: 'large', text: 'x'.repeat(MAX_BACKLOG) });

  const room = audience.room();
  slow.reader.drain();
  await room;

  expect(early).toBeUndefined();
  expect(room).toBeInstanceOf(Promise);
  expect(audience.room()).toBeUndefined();
});
