import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AgentEvent } from '../../protocol/generated/vocabulary.ts';
import { type Dialect, defaultDialect } from '../../wire/dialect.ts';
import { SessionRecord } from '../session-record.ts';
import { clientEventQueue } from './client-event-queue.ts';
import { MAX_CLIENT_BACKLOG, MAX_QUEUED_EVENT_BYTES, slowClientPolicy } from './slow-clients.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A queue in front of a socket that sends nothing until `drain`. */
function setUp(dialect: Partial<Dialect> = { stream: 'delta' }) {
  const sent: string[] = [];
  let pending: (() => void)[] = [];
  const sink = {
    bufferedAmount: 0,
    send: (bytes: Buffer, done?: () => void) => {
      sent.push(bytes.toString());
      sink.bufferedAmount += bytes.length;
      if (done) pending.push(done);
    },
  };
  const onOverflow = vi.fn();
  const queue = clientEventQueue(
    sink,
    { ...defaultDialect, ...dialect },
    {
      formFor: () => undefined,
      policy: slowClientPolicy({ close: onOverflow }),
      onDrained: () => {},
    },
  );
  const drain = () => {
    sink.bufferedAmount = 0;
    for (const done of pending.splice(0)) done();
    pending = [];
  };
  const block = () => queue.send(Buffer.alloc(300 * 1024, ' '));
  return { queue, sent, onOverflow, drain, block };
}

const delta = (text: string): AgentEvent => ({
  type: 'message_update',
  assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: text },
});

it('a slow client gets the waiting deltas of a block as one record with the last sequence number', () => {
  const { queue, sent, drain, block } = setUp();
  block();
  for (const seq of [1, 2, 3]) queue.publish(new SessionRecord(delta('ab'), { seq }));

  drain();

  expect(sent.slice(1).map((text) => JSON.parse(text))).toEqual([{ seq: 3, ...delta('ababab') }]);
});

it('waiting deltas of one block cost one record, so that they do not disconnect a client early', () => {
  const { queue, onOverflow, block } = setUp();
  const one = new SessionRecord(delta('ab'), { seq: 1 });
  const count = Math.floor(MAX_QUEUED_EVENT_BYTES / one.bytes.length) - 2;
  block();

  for (let index = 0; index < count; index++) queue.publish(one);

  expect(onOverflow).not.toHaveBeenCalled();
});

it('a client that does not read is disconnected once, and gets the closing message last', () => {
  const { queue, sent, onOverflow, block } = setUp();
  onOverflow.mockImplementation(() => queue.sendLast(Buffer.from('{"type":"server_disconnected"}')));
  block();
  const large = 'x'.repeat(MAX_QUEUED_EVENT_BYTES / 4);
  for (let index = 0; index < 8; index++) queue.publish(new SessionRecord({ type: 'server_error', error: large }));

  queue.send(Buffer.from('{"late":true}'));

  expect(onOverflow).toHaveBeenCalledTimes(1);
  expect(sent.slice(1)).toEqual(['{"type":"server_disconnected"}']);
});

it('responses may exceed the limit of events, up to the limit of all bytes', () => {
  const { queue, onOverflow, block } = setUp();
  const response = Buffer.alloc(MAX_QUEUED_EVENT_BYTES, ' ');
  block();
  for (let size = 0; size < MAX_CLIENT_BACKLOG; size += response.length) queue.send(response);
  expect(onOverflow).not.toHaveBeenCalled();

  queue.send(response);

  expect(onOverflow).toHaveBeenCalledTimes(1);
});

it('cumulative updates keep 16 ms between them after the first of a block, deltas do not', () => {
  const cumulative = setUp({ stream: 'cumulative' });
  const plain = setUp();
  for (const { queue } of [cumulative, plain]) {
    for (let count = 0; count < 40; count++) queue.publish(new SessionRecord(delta('a')));
  }
  const early = cumulative.sent.length;

  vi.advanceTimersByTime(16);

  expect([early, cumulative.sent.length, plain.sent.length]).toEqual([33, 34, 40]);
});
