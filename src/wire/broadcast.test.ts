import { describe, expect, it } from 'vitest';
import type { AgentEvent, AssistantMessageEvent } from '../protocol/generated/vocabulary.ts';
import { Broadcast } from './broadcast.ts';
import { plainDialect } from './dialect.ts';
import { MAX_BACKLOG, Outbox } from './outbox.ts';
import { SlowReader } from './testing/slow-reader.ts';
import { opening } from './testing/streams.ts';

function listener(options: { entries?: boolean } = {}) {
  const reader = new SlowReader();
  const outbox = new Outbox(reader, { ...plainDialect, stream: 'delta' });
  return { reader, outbox, entries: options.entries ?? false };
}

const update = (step: AssistantMessageEvent): AgentEvent => ({ type: 'message_update', assistantMessageEvent: step });
const started: AgentEvent = { type: 'message_start', message: opening };
const ended: AgentEvent = { type: 'message_end', message: opening };
const text = (delta: string) => update({ type: 'text_delta', contentIndex: 0, delta });

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
    const early = audience.wantsEntries;
    audience.add(with_);
    audience.publish({ type: 'entry_appended', entry });

    expect([early, audience.wantsEntries]).toEqual([false, true]);
    expect(without.reader.records).toEqual([]);
    expect(with_.reader.records).toEqual([{ type: 'entry_appended', entry }]);
  });
});

describe('whoever comes in the middle of an answer', () => {
  it('is told what it has missed, and then the rest', () => {
    const audience = new Broadcast();
    for (const event of [started, update({ type: 'text_start', contentIndex: 0 }), text('so '), text('far')]) {
      audience.publish(event);
    }
    const late = listener();

    audience.add(late);
    audience.publish(update({ type: 'text_end', contentIndex: 0, content: 'so far' }));

    expect(late.reader.records).toEqual([
      started,
      update({ type: 'start' }),
      update({ type: 'text_start', contentIndex: 0 }),
      text('so far'),
      update({ type: 'text_end', contentIndex: 0, content: 'so far' }),
    ]);
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
