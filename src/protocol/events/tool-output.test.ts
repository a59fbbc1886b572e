import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ToolExecutionUpdateEvent } from '../generated/vocabulary.ts';
import { byteLength, formatToolUpdate, joinParts, joinToolUpdates, type OutputPart } from './tool-output.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 20 });
const NO_LIMIT = 1_000_000;

/** Consecutive parts of the texts. */
function partsOf(texts: readonly string[]): OutputPart[] {
  let offset = 0;
  return texts.map((text) => {
    const part = { text, offset };
    offset += Buffer.byteLength(text);
    return part;
  });
}

const joinAll = (parts: readonly OutputPart[], maxLength: number) =>
  parts.reduce<OutputPart | undefined>((joined, part) => joinParts(joined, part, maxLength), undefined);

const update = (outputDelta: string | undefined, offset = 0): ToolExecutionUpdateEvent => ({
  type: 'tool_execution_update',
  toolCallId: 'call_1',
  toolName: 'bash',
  args: { command: 'ls' },
  partialResult: { content: [{ type: 'text', text: 'all' }] },
  ...(outputDelta === undefined ? {} : { outputDelta, offset }),
});

it('the length of a text is that of its UTF-8 encoding', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(byteLength(text)).toBe(Buffer.byteLength(text));
    }),
  );
});

it('consecutive parts join to the whole text', () => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), (texts) => {
      expect(joinAll(partsOf(texts), NO_LIMIT)).toEqual({ text: texts.join(''), offset: 0 });
    }),
  );
});

it('a limit keeps the end of the text at its offset, cut between characters', () => {
  fc.assert(
    fc.property(fc.array(anyText, { minLength: 1 }), fc.integer({ min: 1, max: 30 }), (texts, maxLength) => {
      const whole = texts.join('');
      const joined = joinAll(partsOf(['', ...texts]), maxLength);

      const { text = '', offset = 0 } = joined ?? {};
      expect(text.length).toBeLessThanOrEqual(maxLength);
      expect(Buffer.from(whole).subarray(offset).toString()).toBe(text);
    }),
  );
});

it('a gap drops the part before it', () => {
  const later = { text: 'c', offset: 5 };

  expect(joinParts({ text: 'ab', offset: 0 }, later, NO_LIMIT)).toEqual(later);
});

it('a part after a gap, or the first one, is limited as well', () => {
  const later = { text: 'cdef', offset: 5 };

  expect(joinParts({ text: 'ab', offset: 0 }, later, 3)).toEqual({ text: 'def', offset: 6 });
  expect(joinParts(undefined, later, 3)).toEqual({ text: 'def', offset: 6 });
});

it('joined updates have the newest progress and the text of both', () => {
  const joined = joinToolUpdates(update('ab'), { ...update('c', 2), partialResult: { content: [] } });

  expect(joined).toEqual({ ...update('abc'), partialResult: { content: [] } });
});

it('each form has its own fields', () => {
  const { args: _args, partialResult: _result, ...inDelta } = update('ab', 3);

  expect(formatToolUpdate('both', update('ab', 3))).toEqual(update('ab', 3));
  expect(formatToolUpdate('cumulative', update('ab', 3))).toEqual(update(undefined));
  expect(formatToolUpdate('delta', update('ab', 3))).toEqual(inDelta);
  expect(formatToolUpdate('delta', update(undefined))).toEqual(update(undefined));
});
