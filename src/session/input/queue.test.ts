import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { QueueUpdateEvent } from '../../protocol/generated/vocabulary.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import { brief } from '../testing/sample-messages.ts';
import { Transcript } from '../transcript.ts';
import { MAX_QUEUED, MessageQueue, type QueueKind } from './queue.ts';

function queueOn(log = SessionLog.inMemory({ cwd: '/srv/shop' })) {
  const updates: QueueUpdateEvent[] = [];
  const transcript = new Transcript(log, () => {});
  return { log, transcript, updates, queue: new MessageQueue(transcript, (update) => updates.push(update)) };
}

const text = (words: string) => ({ text: words, images: [] });
const texts = (queue: MessageQueue) => queue.update().items.map((item) => `${item.kind} ${item.text}`);
const image = { type: 'image' as const, data: 'aGk=', mimeType: 'image/png' };

describe('claiming', () => {
  it('stores due messages as user messages with their ids', () => {
    const { queue, log, updates } = queueOn();
    const { id } = queue.add('steer', { text: 'look', images: [image] }, { clientMessageId: 'c1' });

    const taken = queue.claim('steer', 'one-at-a-time')();

    const message = { role: 'user', content: [{ type: 'text', text: 'look' }, image], timestamp: expect.any(Number) };
    expect(taken).toEqual([{ message, clientMessageId: 'c1' }]);
    expect(log.entries().at(-1)).toMatchObject({ type: 'message', message, queueId: id, clientMessageId: 'c1' });
    expect(updates.at(-1)).toEqual({ type: 'queue_update', steering: [], followUp: [], items: [] });
  });

  it('from an empty queue changes and publishes nothing', () => {
    const { queue, updates } = queueOn();
    queue.add('followUp', text('later'));

    expect(queue.claim('steer', 'all')()).toEqual([]);
    expect(updates).toHaveLength(1);
  });
});

describe('a claimed message', () => {
  it('cannot be edited or withdrawn before its delivery', () => {
    const { queue } = queueOn();
    const { id } = queue.add('followUp', text('first'));
    queue.add('followUp', text('second'));
    const deliver = queue.claim('followUp', 'one-at-a-time');

    expect(() => queue.remove(id)).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(() => queue.edit(id, 'other')).toThrow(expect.objectContaining({ code: 'not_found' }));
    expect(queue.clear()).toEqual({ steering: [], followUp: ['second'] });
    expect(deliver().map(({ message }) => brief(message))).toEqual(['user: first']);
    expect(queue.length).toBe(0);
  });

  it('returns to the queue when claims are released', () => {
    const { queue } = queueOn();
    const { id } = queue.add('steer', text('first'));
    queue.claim('steer', 'all');

    queue.releaseClaims();

    expect(queue.remove(id)).toMatchObject({ text: 'first' });
  });
});

describe('limits', () => {
  it('[Q29] message 1001 is rejected and not stored', () => {
    const { queue, log } = queueOn();
    for (let count = 0; count < MAX_QUEUED; count++) queue.add(count % 2 ? 'steer' : 'followUp', text('x'));
    const { size } = log;

    expect(() => queue.add('steer', text('x'))).toThrow(
      expect.objectContaining({ code: 'overloaded', message: 'The queue is full (1000 messages)' }),
    );
    expect(log.size).toBe(size);

    queue.claim('steer', 'one-at-a-time')();
    expect(queue.add('steer', text('again'))).toMatchObject({ text: 'again' });
  });
});

describe('after a crash', () => {
  it('images and client ids are restored', () => {
    const { queue, log } = queueOn();
    queue.add('steer', { text: 'look', images: [image] }, { clientMessageId: 'c1' });

    const { queue: restored } = queueOn(log);

    expect(restored.findByClientId('c1')).toMatchObject({ kind: 'steer', text: 'look', images: [image] });
  });

  it('a message whose user entry is stored counts as delivered', () => {
    const { queue, transcript, log } = queueOn();
    const { id } = queue.add('steer', text('once'));

    transcript.add({ role: 'user', content: 'once', timestamp: 1 }, { queueId: id });

    expect(queueOn(log).queue.length).toBe(0);
  });

  it('a copy of the session does not restore its queue', async () => {
    const { queue, log } = queueOn();
    queue.add('steer', text('mine'));

    const copy = await log.copy({ leafId: log.leafId, directory: undefined });

    expect(queueOn(copy).queue.length).toBe(0);
  });
});

type Act =
  | { do: 'add'; kind: QueueKind; text: string }
  | { do: 'edit'; at: number; text: string }
  | { do: 'remove'; at: number }
  | { do: 'take'; kind: QueueKind; mode: 'all' | 'one-at-a-time' }
  | { do: 'clear' }
  | { do: 'goTo'; at: number };

it('the queue equals a plain list after any change, and so does a queue restored from the file', () => {
  const kind = fc.constantFrom<QueueKind>('steer', 'followUp');
  const words = fc.constantFrom('same', 'other', 'third');
  const at = fc.nat({ max: 5 });
  const anyAct: fc.Arbitrary<Act> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), kind, text: words }) },
    fc.record({ do: fc.constant('edit' as const), at, text: words }),
    fc.record({ do: fc.constant('remove' as const), at }),
    fc.record({
      do: fc.constant('take' as const),
      kind,
      mode: fc.constantFrom('all' as const, 'one-at-a-time' as const),
    }),
    fc.record({ do: fc.constant('clear' as const) }),
    fc.record({ do: fc.constant('goTo' as const), at }),
  );
  fc.assert(
    fc.property(fc.array(anyAct, { maxLength: 20 }), (acts) => {
      const { queue, log } = queueOn();
      let plain: { kind: QueueKind; text: string }[] = [];
      for (const act of acts) {
        if (act.do === 'goTo') {
          log.storeLeaf(log.entries().at(-act.at)?.id ?? null);
          continue;
        }
        const item = 'at' in act ? queue.update().items[act.at] : undefined;
        if (act.do === 'add') {
          queue.add(act.kind, text(act.text));
          plain = [...plain, { kind: act.kind, text: act.text }];
        } else if (act.do === 'clear') {
          const taken = queue.clear();
          expect([...taken.steering, ...taken.followUp].length).toBe(plain.length);
          plain = [];
        } else if (act.do === 'take') {
          const due = plain.filter((one) => one.kind === act.kind).slice(0, act.mode === 'all' ? Infinity : 1);
          const taken = queue
            .claim(act.kind, act.mode)()
            .map(({ message }) => brief(message));
          expect(taken).toEqual(due.map((one) => `user: ${one.text}`));
          plain = plain.filter((one) => !due.includes(one));
        } else if (item) {
          if (act.do === 'edit') queue.edit(item.id, act.text);
          else expect(queue.remove(item.id).text).toBe(item.text);
          plain = plain.flatMap((one, index) => {
            if (index !== act.at) return [one];
            return act.do === 'edit' ? [{ ...one, text: act.text }] : [];
          });
        }

        const expected = plain.map((one) => `${one.kind} ${one.text}`);
        expect(texts(queue)).toEqual(expected);
        expect(queueOn(log).queue.update()).toEqual(queue.update());
      }
    }),
  );
});
