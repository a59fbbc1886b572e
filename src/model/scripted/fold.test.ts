import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AssistantBlock } from '../../protocol/generated/vocabulary.ts';
import type { ModelEvent } from '../request.ts';
import { callToEnd, scripted } from './testing/call.ts';

const several = fc.integer({ min: 1, max: 8 });
const json = fc.dictionary(
  fc.string().filter((key) => key !== '__proto__'),
  fc.oneof(fc.string(), fc.integer()),
);
const anyStep = fc.oneof(
  fc.record({ text: fc.string({ unit: 'binary' }), chunks: several }),
  fc.record({ text: fc.string(), times: several }),
  fc.record({ thinking: fc.lorem() }),
  fc.record({ toolCall: fc.record({ name: fc.constantFrom('a', 'b'), arguments: json }), chunks: several }),
  fc.constant({ delayMs: 0 }),
  fc.constantFrom({ stop: 'length' }, { usage: { input: 1 } }, { cut: true }, { overflow: true }),
);

test('the joined deltas of any response are its blocks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 8 }), async (steps) => {
      const { events, message } = await callToEnd(scripted({ steps }));

      expect(folded(events)).toEqual(message.content);
    }),
  );
});

/** The message that a client builds from the steps alone. */
function folded(events: readonly ModelEvent[]): AssistantBlock[] {
  const blocks: AssistantBlock[] = [];
  let pieces: string[] = [];
  let call = { id: '', name: '' };
  for (const event of events) {
    if (event.type === 'toolcall_start') call = { id: event.id, name: event.toolName };
    if ('delta' in event) pieces.push(event.delta);
    if (!event.type.endsWith('_end')) continue;
    const whole = pieces.join('');
    pieces = [];
    if (event.type === 'text_end') blocks.push({ type: 'text', text: whole });
    if (event.type === 'thinking_end') blocks.push({ type: 'thinking', thinking: whole });
    if (event.type === 'toolcall_end') blocks.push({ type: 'toolCall', ...call, arguments: JSON.parse(whole) });
  }
  return blocks;
}
