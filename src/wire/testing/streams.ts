import fc from 'fast-check';
import type { AssistantBlock, AssistantMessage, AssistantMessageEvent } from '../../protocol/generated/vocabulary.ts';

/** An assistant message at its start, for tests of streams. */
export const empty: AssistantMessage = {
  role: 'assistant',
  content: [],
  api: 'scripted',
  provider: 'tau',
  model: 'scripted',
  usage: {
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 0,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason: 'stop',
  timestamp: 0,
};

/** An assistant message and its steps, without the last one. */
export interface Stream {
  readonly message: AssistantMessage;
  readonly steps: readonly AssistantMessageEvent[];
}

interface Block {
  readonly block: AssistantBlock;
  readonly steps: (contentIndex: number) => AssistantMessageEvent[];
}

const chars = fc.string({ unit: 'grapheme', maxLength: 5 });
const pieces = fc.array(chars, { maxLength: 5 });

const anyText = (kind: 'text' | 'thinking'): fc.Arbitrary<Block> =>
  pieces.map((deltas) => {
    const content = deltas.join('');
    return {
      block: kind === 'text' ? { type: 'text', text: content } : { type: 'thinking', thinking: content },
      steps: (contentIndex) => [
        { type: `${kind}_start`, contentIndex },
        ...deltas.map((delta) => ({ type: `${kind}_delta` as const, contentIndex, delta })),
        { type: `${kind}_end`, contentIndex, content },
      ],
    };
  });

const anyToolCall: fc.Arbitrary<Block> = fc
  .record({ id: chars, name: chars, args: pieces })
  .map(({ id, name, args }) => {
    const toolCall = { type: 'toolCall' as const, id, name, arguments: Object.fromEntries(args.entries()) };
    return {
      block: toolCall,
      steps: (contentIndex) => [
        { type: 'toolcall_start', contentIndex, id, toolName: name },
        ...args.map((delta) => ({ type: 'toolcall_delta' as const, contentIndex, delta })),
        { type: 'toolcall_end', contentIndex, toolCall },
      ],
    };
  });

/** Any message of texts, thinking and tool calls, in deltas of any size. */
export const anyStream: fc.Arbitrary<Stream> = fc
  .array(fc.oneof(anyText('text'), anyText('thinking'), anyToolCall), { maxLength: 6 })
  .map((blocks) => ({
    message: { ...empty, content: blocks.map(({ block }) => block) },
    steps: [{ type: 'start' }, ...blocks.flatMap(({ steps }, contentIndex) => steps(contentIndex))],
  }));

const anyLast: fc.Arbitrary<AssistantMessageEvent> = fc.oneof(
  fc.constantFrom('stop', 'length', 'toolUse').map((reason) => ({ type: 'done' as const, reason })),
  fc.constantFrom('aborted', 'error').map((reason) => ({ type: 'error' as const, reason })),
);

/** Any stream with its last step, split at any step. */
export const anySplitStream: fc.Arbitrary<{ readonly before: Stream['steps']; readonly after: Stream['steps'] }> = fc
  .tuple(anyStream, anyLast, fc.nat())
  .map(([streamed, last, position]) => {
    const steps = [...streamed.steps, last];
    const cut = position % (steps.length + 1);
    return { before: steps.slice(0, cut), after: steps.slice(cut) };
  });

/** Freezes a value and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
