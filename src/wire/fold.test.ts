import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage, AssistantMessageEvent } from '../protocol/generated/vocabulary.ts';
import { catchUp, fold } from './fold.ts';
import { anyCutOff, anyStreamed, opening } from './testing/streams.ts';

const folded = (steps: readonly AssistantMessageEvent[], from: AssistantMessage = opening) => steps.reduce(fold, from);

/** Nothing in it can be changed any more. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

describe('fold', () => {
  it('leads to the message that was told', () => {
    fc.assert(
      fc.property(anyStreamed, ({ message, steps }) => {
        expect(folded(steps)).toEqual(message);
      }),
    );
  });

  it('gives the same in one go and with a stop anywhere', () => {
    fc.assert(
      fc.property(anyCutOff, ({ told, rest }) => {
        expect(folded(rest, folded(told))).toEqual(folded([...told, ...rest]));
      }),
    );
  });

  it('changes neither the message nor the step', () => {
    fc.assert(
      fc.property(anyStreamed, ({ message, steps }) => {
        const whole = frozen(steps).reduce((before, step) => frozen(fold(before, step)), frozen(opening));

        expect(whole).toEqual(message);
      }),
    );
  });

  it('takes the last message as it is, or else the reason alone', () => {
    const last = { ...opening, stopReason: 'length' as const, timestamp: 7 };

    expect(fold(opening, { type: 'done', reason: 'length', message: last })).toBe(last);
    expect(fold(opening, { type: 'error', reason: 'aborted', error: last })).toBe(last);
    expect(fold(opening, { type: 'done', reason: 'toolUse' })).toEqual({ ...opening, stopReason: 'toolUse' });
    expect(fold(opening, { type: 'error', reason: 'error' })).toEqual({ ...opening, stopReason: 'error' });
  });

  it('makes a whole block of an end whose start was missed', () => {
    const text = fold(opening, { type: 'text_end', contentIndex: 0, content: 'a' });
    const thinking = fold(opening, { type: 'thinking_end', contentIndex: 0, content: 'b' });

    expect(text.content).toEqual([{ type: 'text', text: 'a' }]);
    expect(thinking.content).toEqual([{ type: 'thinking', thinking: 'b' }]);
  });

  it('leaves the message alone for a delta whose start was missed', () => {
    expect(fold(opening, { type: 'text_delta', contentIndex: 0, delta: 'a' })).toEqual(opening);
  });
});

describe('catchUp', () => {
  it('folds back to the message', () => {
    fc.assert(
      fc.property(anyCutOff, ({ told }) => {
        const message = folded(told);

        expect(folded(catchUp(message))).toEqual(message);
      }),
    );
  });

  it('lets the live steps go on where it stopped', () => {
    fc.assert(
      fc.property(anyCutOff, ({ told, rest }) => {
        const late = [...catchUp(folded(told)), ...rest];

        expect(folded(late)).toEqual(folded([...told, ...rest]));
      }),
    );
  });

  it('begins with the start and says nothing of the arguments of a call that is still open', () => {
    const open = fold(opening, { type: 'toolcall_start', contentIndex: 0, id: 'c1', toolName: 'read' });

    expect(catchUp(open)).toEqual([
      { type: 'start' },
      { type: 'toolcall_start', contentIndex: 0, id: 'c1', toolName: 'read' },
    ]);
  });

  it('tells a whole call to its end', () => {
    const toolCall = { type: 'toolCall' as const, id: 'c1', name: 'read', arguments: { path: 'a' } };

    expect(catchUp({ ...opening, content: [toolCall] })).toEqual([
      { type: 'start' },
      { type: 'toolcall_start', contentIndex: 0, id: 'c1', toolName: 'read' },
      { type: 'toolcall_delta', contentIndex: 0, delta: '{"path":"a"}' },
      { type: 'toolcall_end', contentIndex: 0, toolCall },
    ]);
  });
});
