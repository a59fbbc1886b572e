import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  AssistantMessage,
  AssistantMessageEvent,
  MessageUpdateEvent,
  Usage,
} from '../protocol/generated/vocabulary.ts';
import { applyStep, joinDeltas } from './assistant-message.ts';
import { anySplitStream, anyStream, deepFreeze, empty } from './testing/streams.ts';

const folded = (steps: readonly AssistantMessageEvent[], from: AssistantMessage = empty) =>
  steps.reduce(applyStep, from);

describe('applyStep', () => {
  it('leads to the streamed message', () => {
    fc.assert(
      fc.property(anyStream, ({ message, steps }) => {
        expect(folded(steps)).toEqual(message);
      }),
    );
  });

  it('gives the same message in one pass and with a stop at any step', () => {
    fc.assert(
      fc.property(anySplitStream, ({ before, after }) => {
        expect(folded(after, folded(before))).toEqual(folded([...before, ...after]));
      }),
    );
  });

  it('changes neither the message nor the step', () => {
    fc.assert(
      fc.property(anyStream, ({ message, steps }) => {
        const whole = deepFreeze(steps).reduce(
          (before, step) => deepFreeze(applyStep(before, step)),
          deepFreeze(empty),
        );

        expect(whole).toEqual(message);
      }),
    );
  });

  it('takes the message of the last step, or else its reason', () => {
    const last = { ...empty, stopReason: 'length' as const, timestamp: 7 };

    expect(applyStep(empty, { type: 'done', reason: 'length', message: last })).toBe(last);
    expect(applyStep(empty, { type: 'error', reason: 'aborted', error: last })).toBe(last);
    expect(applyStep(empty, { type: 'done', reason: 'toolUse' })).toEqual({ ...empty, stopReason: 'toolUse' });
    expect(applyStep(empty, { type: 'error', reason: 'error' })).toEqual({ ...empty, stopReason: 'error' });
  });

  it('creates a whole block from an end whose start was missed', () => {
    const text = applyStep(empty, { type: 'text_end', contentIndex: 0, content: 'a' });
    const thinking = applyStep(empty, { type: 'thinking_end', contentIndex: 0, content: 'b' });

    expect(text.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(thinking.content).toEqual([{ type: 'thinking', thinking: 'b' }]);
  });

  it('starts a block with a delta whose start was missed', () => {
    const text = applyStep(empty, { type: 'text_delta', contentIndex: 0, delta: 'a' });
    const thinking = applyStep(empty, { type: 'thinking_delta', contentIndex: 0, delta: 'b' });

    expect(text.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(thinking.content).toEqual([{ type: 'thinking', thinking: 'b' }]);
  });

  it('ignores a step with an impossible block index', () => {
    const apart = fc.integer({ min: 1, max: 2 ** 32 });
    const nowhere = fc.oneof(
      apart.map((number) => -number),
      fc.double().filter((number) => !Number.isInteger(number)),
    );
    const anyStep = anyStream.chain(({ steps }) => fc.constantFrom(...steps));

    fc.assert(
      fc.property(anyStream, anyStep, apart, nowhere, ({ message }, step, far, wrong) => {
        for (const contentIndex of [message.content.length + far, wrong]) {
          expect(applyStep(message, { ...step, contentIndex } as AssistantMessageEvent)).toBe(message);
        }
      }),
    );
  });
});

describe('joinDeltas', () => {
  const update = (step: AssistantMessageEvent, usage?: Usage): MessageUpdateEvent => ({
    type: 'message_update',
    assistantMessageEvent: step,
    usage,
  });
  const delta = (contentIndex: number, text: string): AssistantMessageEvent => ({
    type: 'text_delta',
    contentIndex,
    delta: text,
  });

  it('merges two consecutive deltas of one block and keeps the latest usage', () => {
    const [early, late] = [empty.usage, { ...empty.usage, output: 7 }];

    expect(joinDeltas(update(delta(1, 'a'), early), update(delta(1, 'b')))).toEqual(update(delta(1, 'ab'), early));
    expect(joinDeltas(update(delta(1, 'a'), early), update(delta(1, 'b'), late))).toEqual(update(delta(1, 'ab'), late));
  });

  it('merges no other pair', () => {
    const others: AssistantMessageEvent[] = [
      delta(2, 'b'),
      { type: 'thinking_delta', contentIndex: 1, delta: 'b' },
      { type: 'toolcall_delta', contentIndex: 1, delta: 'b' },
      { type: 'text_end', contentIndex: 1, content: 'a' },
      { type: 'done', reason: 'stop' },
    ];

    for (const other of others) {
      expect(joinDeltas(update(delta(1, 'a')), update(other))).toBeUndefined();
      expect(joinDeltas(update(other), update(delta(1, 'a')))).toBeUndefined();
    }
  });
});
