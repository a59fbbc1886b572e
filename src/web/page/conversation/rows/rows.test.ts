import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anySimulatedSession } from '../../../../client/testing/simulated-session.ts';
import { prependPage } from '../../../../client/view/history.ts';
import { type ConversationView, emptyView, reduce } from '../../../../client/view/view.ts';
import type { AgentMessage, AssistantMessage } from '../../../../protocol/generated/vocabulary.ts';
import { empty } from '../../../../wire/testing/streams.ts';
import { type MessageRow, Rows } from './rows.ts';

const NOON = new Date(2026, 0, 5, 12).getTime();
const HOUR = 60 * 60 * 1000;

const user = (content: string, timestamp = NOON): AgentMessage => ({ role: 'user', content, timestamp });

const assistant = (fields: Partial<AssistantMessage> = {}): AssistantMessage => ({
  ...empty,
  timestamp: NOON,
  ...fields,
});

const calling = (...ids: string[]): AssistantMessage =>
  assistant({ content: ids.map((id) => ({ type: 'toolCall' as const, id, name: 't', arguments: {} })) });

const resultOf = (toolCallId: string): AgentMessage => ({
  role: 'toolResult',
  toolCallId,
  toolName: 't',
  content: [],
  isError: false,
  timestamp: NOON,
});

const note = (display: boolean): AgentMessage => ({
  role: 'custom',
  customType: 'c',
  content: 'x',
  display,
  timestamp: NOON,
});

const rowsOf = (messages: readonly AgentMessage[], more: Partial<ConversationView> = {}) =>
  new Rows().of({ ...emptyView, messages, ...more });

const keyOf = (rows: readonly MessageRow[], message: AgentMessage) => rows.find((row) => row.message === message)?.key;

describe('rows', () => {
  it('attach tool results to their call, and keep results without a call', () => {
    const [call, first, second, stray] = [calling('a', 'b'), resultOf('a'), resultOf('b'), resultOf('z')];
    const again = calling('a');
    const firstAgain = resultOf('a');

    const rows = rowsOf([call, first, second, stray, again, firstAgain]);

    expect(rows.map(({ message }) => message)).toEqual([call, stray, again]);
    expect(rows[0]?.results).toEqual(new Map(Object.entries({ a: first, b: second })));
    expect(rows[2]?.results.get('a')).toBe(firstAgain);
  });

  it('omit messages that an extension hides from the user', () => {
    const shown = note(true);

    expect(rowsOf([note(false), shown]).map(({ message }) => message)).toEqual([shown]);
  });

  it('mark changes of day, model and author', () => {
    const messages = [
      user('x', NOON),
      assistant({ model: 'one', timestamp: NOON + 11 * HOUR }),
      assistant({ model: 'one', timestamp: NOON + 13 * HOUR }),
      user('y', NOON + 13 * HOUR),
      assistant({ model: 'two', timestamp: NOON + 14 * HOUR }),
    ];

    const rows = rowsOf(messages);

    expect(rows.map(({ continues }) => continues)).toEqual([false, false, true, false, false]);
    expect(rows.map(({ day }) => day)).toEqual([NOON, undefined, NOON + 13 * HOUR, undefined, undefined]);
    expect(rows.map(({ model }) => model)).toEqual([undefined, undefined, undefined, 'two', undefined]);
  });

  it('mark a model change above its first prompt, or else above its message', () => {
    const [one, two, three] = [assistant({ model: 'one' }), assistant({ model: 'two' }), assistant({ model: 'three' })];
    const prompts = [user('x'), one, note(true), user('y'), note(true), user('z')];
    const markedIn = (messages: readonly AgentMessage[], answer?: AssistantMessage) =>
      rowsOf(messages, { streamingMessage: answer }).flatMap(({ model }, index) =>
        model === undefined ? [] : [[index, model]],
      );

    expect(markedIn(prompts)).toEqual([]);
    expect(markedIn(prompts, two)).toEqual([[3, 'two']]);
    expect(markedIn([...prompts, two], three)).toEqual([
      [3, 'two'],
      [7, 'three'],
    ]);
  });

  it('change when the model of the streaming message is known', () => {
    const rows = new Rows();
    const messages = [user('x'), assistant({ model: 'one' }), user('y')];
    const before = rows.of({ ...emptyView, messages });
    const after = rows.of({ ...emptyView, messages, streamingMessage: assistant({ model: 'two' }) });

    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect([before[2]?.model, after[2]?.model, after[3]?.model]).toEqual([undefined, 'two', undefined]);
  });

  it('have no day for an invalid time', () => {
    const rows = rowsOf([user('a'), user('b', 1e300), user('c', Number.NaN), user('d'), user('e', -1e16)]);

    expect(rows.map(({ day }) => day)).toEqual([NOON, undefined, undefined, undefined, undefined]);
  });

  it('mark the message after which the conversation was compacted, while the summary is loaded', () => {
    const summary = (timestamp: number): AgentMessage => ({
      role: 'compactionSummary',
      summary: 's',
      tokensBefore: 9,
      timestamp: NOON + timestamp,
    });
    const [first, second, third] = [user('kept', NOON), user('last', NOON + 2), user('new', NOON + 4)];
    const [before, after] = [summary(3), summary(5)];
    const summariesIn = (...messages: AgentMessage[]) => {
      const rows = rowsOf(messages);
      return rows.map((row) => rows.find(({ key }) => key === row.summary)?.message);
    };

    expect(summariesIn(before, first, second)).toEqual([undefined, undefined, before]);
    expect(summariesIn(before, first, second, third)).toEqual([undefined, undefined, before, undefined]);
    expect(summariesIn(before, first, after, second, third)).toEqual([undefined, undefined, undefined, before, after]);
    expect(summariesIn(first, second, before, third)).toEqual([undefined, undefined, undefined, undefined]);
    expect(summariesIn(first, second, third)).toEqual([undefined, undefined, undefined]);
  });

  it('have no day on the first message when earlier ones exist or it is from today', () => {
    const later = rowsOf([user('x')], { earlier: { from: 'end', cursor: 'c' } });
    const today = rowsOf([user('x', Date.now())]);

    expect([later[0]?.day, today[0]?.day]).toEqual([undefined, undefined]);
  });

  it('keep their identity until they change', () => {
    const rows = new Rows();
    const messages = [user('x'), calling('a', 'b'), resultOf('a')];
    const before = rows.of({ ...emptyView, messages });
    const [first, called] = rows.of({ ...emptyView, messages: [...messages, resultOf('b')] });

    expect(first).toBe(before[0]);
    expect(called).not.toBe(before[1]);
    expect(called?.key).toBe(before[1]?.key);
  });

  it('keep the key of a streaming message when it is finished, also when the next one has started', () => {
    const rows = new Rows();
    const prompt = user('x');
    const streaming = rows.of({ ...emptyView, messages: [prompt], streamingMessage: assistant() }).at(-1);
    const finished = calling('a');
    const after = rows.of({ ...emptyView, messages: [prompt, finished, resultOf('a')], streamingMessage: assistant() });

    expect(streaming?.message).toBeUndefined();
    expect(keyOf(after, finished)).toBe(streaming?.key);
    expect(after.at(-1)?.message).toBeUndefined();
    expect(after.at(-1)?.key).not.toBe(streaming?.key);
  });
});

describe('keys', () => {
  const keysIn = (rows: readonly MessageRow[]) => new Map(rows.map(({ message, key }) => [message, key]));

  const areUnique = (rows: readonly MessageRow[]) => new Set(rows.map(({ key }) => key)).size === rows.length;

  it('belong to the messages, whatever events arrive', () => {
    fc.assert(
      fc.property(anySimulatedSession, ({ events, snapshots }) => {
        const rows = new Rows();
        let view = (snapshots[0] ?? []).reduce(reduce, emptyView);
        let before = rows.of(view);
        for (const [index, event] of events.entries()) {
          const isStreamed = view.streamingMessage !== undefined && event.type === 'message_end';
          view = reduce(view, event);
          const after = rows.of(view);
          const known = keysIn(before);

          expect(areUnique(after)).toBe(true);
          for (const { message, key } of after) if (message) expect(known.get(message) ?? key).toBe(key);
          if (isStreamed) expect(after.at(-1)?.key).toBe(before.at(-1)?.key);

          // A reconnect delivers the same messages as other objects.
          view = structuredClone(snapshots[index + 1] ?? []).reduce(reduce, view);
          before = rows.of(view);
          expect(before.map(({ key }) => key)).toEqual(after.map(({ key }) => key));
        }
      }),
    );
  });

  it('stay when earlier messages are prepended', () => {
    const anyMessage = fc.nat(9).map((number) => user(String(number)));
    fc.assert(
      fc.property(fc.array(fc.array(anyMessage)), fc.array(anyMessage), (pages, tail) => {
        const rows = new Rows();
        let view: ConversationView = {
          ...emptyView,
          messages: tail,
          earlier: { from: 'end', cursor: 'c' },
          streamingMessage: assistant(),
        };
        let before = rows.of(view);
        for (const messages of pages) {
          const page = { messages, nextCursor: 'd', totalMessages: 0 };
          view = prependPage(view, view.earlier ?? {}, page);
          const after = rows.of(view);

          expect(areUnique(after)).toBe(true);
          expect(after.slice(messages.length).map(({ key }) => key)).toEqual(before.map(({ key }) => key));
          before = after;
        }
      }),
    );
  });
});
