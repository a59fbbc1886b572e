import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AssistantMessage } from '../protocol/generated/vocabulary.ts';
import { applyStep } from '../wire/assistant-message.ts';
import { Draft, type DraftStep, emptyAssistantMessage, noUsage } from './draft.ts';
import { scriptedModels } from './scripted/models.ts';

const [model] = scriptedModels;
if (!model) throw new Error('The catalogue is empty');
const opening = { ...emptyAssistantMessage(model), timestamp: 1 };
const newDraft = () => new Draft({ ...opening });

/** A call that a provider may make on a draft. */
type DraftCall =
  | { readonly do: 'text' | 'thinking' | 'arguments' | 'sign' | 'redacted'; readonly with: string }
  | { readonly do: 'call'; readonly with: { id: string; name: string } }
  | { readonly do: 'close' };

function applyCall(draft: Draft, call: DraftCall): DraftStep[] {
  switch (call.do) {
    case 'text':
      return draft.text(call.with);
    case 'thinking':
      return draft.thinking(call.with);
    case 'arguments':
      return draft.toolArguments(call.with);
    case 'call':
      return draft.toolCall(call.with);
    case 'sign':
      draft.sign(call.with);
      return [];
    case 'redacted':
      return draft.redactedThinking(call.with);
    case 'close':
      return draft.close();
    default:
      return call satisfies never;
  }
}

const anyText = fc.string({ unit: 'binary', maxLength: 6 });
const anyCall: fc.Arbitrary<DraftCall> = fc.oneof(
  fc.record({
    do: fc.constantFrom('text' as const, 'thinking' as const, 'sign' as const, 'redacted' as const),
    with: anyText,
  }),
  fc.record({ do: fc.constant('arguments' as const), with: fc.oneof(anyText, fc.json({ maxDepth: 1 })) }),
  fc.record({ do: fc.constant('call' as const), with: fc.record({ id: fc.string(), name: fc.string() }) }),
  fc.constant({ do: 'close' as const }),
);

/** Signatures of text and thinking are in the whole message only. */
const withoutSignatures = (content: AssistantMessage['content']) =>
  content.map((block) => {
    if (block.type === 'text') return { type: block.type, text: block.text };
    return block.type === 'thinking' ? { type: block.type, thinking: block.thinking } : block;
  });

describe('whatever a provider adds to a draft', () => {
  it('[M8 M9 M10] the deltas alone yield the blocks of the whole message', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 30 }), (calls) => {
        const draft = newDraft();
        const steps = calls.flatMap((call) => applyCall(draft, call));
        steps.push(...draft.close());

        expect(steps.reduce(applyStep, opening).content).toEqual(withoutSignatures(draft.finish().content));
      }),
    );
  });

  it('every block starts once, ends once and never overlaps another', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 30 }), (calls) => {
        const draft = newDraft();
        const steps = [...calls.flatMap((call) => applyCall(draft, call)), ...draft.close()];

        const blocks = draft.finish().content.map(({ type }, index) => {
          const name = type.toLowerCase();
          const own = steps.filter((step) => step.contentIndex === index).map((step) => step.type);
          expect([own[0], own.at(-1)]).toEqual([`${name}_start`, `${name}_end`]);
          expect(new Set(own.slice(1, -1))).toEqual(new Set(own.length > 2 ? [`${name}_delta`] : []));
          return own.length;
        });
        expect(steps.map((step) => step.contentIndex)).toEqual(
          blocks.flatMap((size, index) => Array(size).fill(index)),
        );
      }),
    );
  });

  it('the end of a block repeats all its deltas', () => {
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 30 }), (calls) => {
        const draft = newDraft();
        let pieces = '';

        for (const step of [...calls.flatMap((call) => applyCall(draft, call)), ...draft.close()]) {
          if (step.type.endsWith('_start')) pieces = '';
          if ('delta' in step) pieces += step.delta;
          if (step.type === 'text_end' || step.type === 'thinking_end') expect(step.content).toBe(pieces);
        }
      }),
    );
  });
});

it('a long message stays in pieces until its block closes', () => {
  const draft = newDraft();
  const deltas = 300_000;
  const word = 'abcd '.repeat(20);

  for (let count = 0; count < deltas; count++) draft.text(word);

  // Joining at every step would copy terabytes here.
  const [block] = draft.finish().content;
  expect(block).toMatchObject({ type: 'text' });
  expect(block?.type === 'text' ? block.text.length : 0).toBe(deltas * word.length);
});

describe('the arguments of a tool call', () => {
  const called = (...pieces: string[]) => {
    const draft = newDraft();
    draft.toolCall({ id: 'c1', name: 'read' });
    for (const piece of pieces) draft.toolArguments(piece);
    return draft.finish().content;
  };

  it('are joined from their pieces', () => {
    expect(called('{"path":', '"a.t', 'xt"}')).toEqual([
      { type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'a.txt' } },
    ]);
  });

  it.each(['', '{"path":"a', '[1]', '"text"', 'null', '7', '{bad'])('are empty if the JSON is %j', (json) => {
    expect(called(json)).toEqual([{ type: 'toolCall', id: 'c1', name: 'read', arguments: {} }]);
  });

  it('may have any names', () => {
    const [call] = called('{"__proto__":{"a":1},"constructor":2}');

    expect(JSON.stringify(call?.type === 'toolCall' && call.arguments)).toBe('{"__proto__":{"a":1},"constructor":2}');
  });

  it('are dropped without an open call', () => {
    const draft = newDraft();

    expect(draft.toolArguments('{}')).toEqual([]);
    draft.text('x');
    expect(draft.toolArguments('{}')).toEqual([]);
    expect(draft.finish().content).toEqual([{ type: 'text', text: 'x' }]);
  });
});

describe('the finished message', () => {
  it('has the stop reason toolUse if tools were called and no other reason was set', () => {
    const draft = newDraft();
    draft.toolCall({ id: 'c1', name: 'read' });

    expect(draft.finish().stopReason).toBe('toolUse');
  });

  it('keeps a stop reason that the provider set', () => {
    const draft = newDraft();
    draft.toolCall({ id: 'c1', name: 'read' });
    draft.stopReason = 'length';

    expect(draft.finish().stopReason).toBe('length');
  });

  it('keeps the content of a failed response', () => {
    const draft = newDraft();
    draft.thinking('hm');
    draft.sign('seal');
    draft.text('well, ');
    draft.usage = { ...noUsage(), input: 3, totalTokens: 3 };

    const message = draft.finish({ stopReason: 'error', errorMessage: 'gone', errorCode: 'connection_lost' });

    expect(message).toEqual({
      ...opening,
      content: [
        { type: 'thinking', thinking: 'hm', thinkingSignature: 'seal' },
        { type: 'text', text: 'well, ' },
      ],
      usage: { ...noUsage(), input: 3, totalTokens: 3 },
      stopReason: 'error',
      errorMessage: 'gone',
      errorCode: 'connection_lost',
    });
  });

  it('is empty without content', () => {
    expect(newDraft().finish()).toEqual(opening);
  });
});
