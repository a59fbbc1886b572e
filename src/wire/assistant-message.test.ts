import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  AssistantMessage,
  AssistantMessageEvent,
  MessageUpdateEvent,
  Usage,
} from '../protocol/generated/vocabulary.ts';
import { applyStep, joinDeltas } from './assistant-message.ts';
import { deepFreeze } from './testing/frozen.ts';
import { anySplitStream, anyStream, empty } from './testing/streams.ts';

const folded = (steps: readonly AssistantMessageEvent[], from: AssistantMessage = empty) => steps.reduce(applyStep, from);

describe('fold', () => {
  it('leads to the message that was told', () => {
    fc.assert(
      fc.property(anyStream, ({ message, steps }) => {
        expect(folded(steps)).toEqual(message);
      }),
    );
  });

  it('gives the same in one go and with a stop anywhere', () => {
    fc.assert(
      fc.property(anySplitStream, ({ told, rest }) => {
        expect(folded(rest, folded(told))).toEqual(folded([...told, ...rest]));
      }),
    );
  });

  it('changes neither the message nor the step', () => {
    fc.assert(
      fc.property(anyStream, ({ message, steps }) => {
        const whole = deepFreeze(steps).reduce((before, step) => deepFreeze(applyStep(before, step)), deepFreeze(empty));

        expect(whole).toEqual(message);
      }),
    );
  });

  it('takes the last message as it is, or else the reason alone', () => {
    const last = { ...empty, stopReason: 'length' as const, timestamp: 7 };

    expect(applyStep(empty, { type: 'done', reason: 'length', message: last })).toBe(last);
    expect(applyStep(empty, { type: 'error', reason: 'aborted', error: last })).toBe(last);
    expect(applyStep(empty, { type: 'done', reason: 'toolUse' })).toEqual({ ...empty, stopReason: 'toolUse' });
    expect(applyStep(empty, { type: 'error', reason: 'error' })).toEqual({ ...empty, stopReason: 'error' });
  });

  it('makes a whole block of an end whose start was missed', () => {
    const text = applyStep(empty, { type: 'text_end', contentIndex: 0, content: 'a' });
    const thinking = applyStep(empty, { type: 'thinking_end', contentIndex: 0, content: 'b' });

    expect(text.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(thinking.content).toEqual([{ type: 'thinking', thinking: 'b' }]);
  });

  it('begins a block with a delta whose start was missed', () => {
    const text = applyStep(empty, { type: 'text_delta', contentIndex: 0, delta: 'a' });
    const thinking = applyStep(empty, { type: 'thinking_delta', contentIndex: 0, delta: 'b' });

    expect(text.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(thinking.content).toEqual([{ type: 'thinking', thinking: 'b' }]);
  });

  it('leaves the message as it is where a step is of a block that cannot be', () => {
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

describe('joined', () => {
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

  it('makes one delta of two that follow each other in a block, with the last that was said of the usage', () => {
    const [early, late] = [empty.usage, { ...empty.usage, output: 7 }];

    expect(joinDeltas(update(delta(1, 'a'), early), update(delta(1, 'b')))).toEqual(update(delta(1, 'ab'), early));
    expect(joinDeltas(update(delta(1, 'a'), early), update(delta(1, 'b'), late))).toEqual(update(delta(1, 'ab'), late));
  });

  it('leaves alone whatever else follows', () => {
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
