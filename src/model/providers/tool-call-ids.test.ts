import fc from 'fast-check';
import { expect, it } from 'vitest';
import { assistantMessage, toolCall, toolResult } from '../../../test/support/providers/messages.ts';
import { scriptedRequest } from '../scripted/testing/call.ts';
import { anthropicToolId, withMistralToolIds } from './tool-call-ids.ts';

it.each(['toolu_01A', 'call-1', 'x'.repeat(64)])('an accepted id stays: %s', (id) => {
  expect(anthropicToolId(id)).toBe(id);
});

it('any id becomes acceptable, and different ids stay different', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 120 }), fc.string({ maxLength: 120 }), (one, two) => {
      expect(anthropicToolId(one)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(anthropicToolId(one) === anthropicToolId(two)).toBe(one === two);
    }),
  );
});

it('long ids with a common prefix stay different', () => {
  const long = 'x'.repeat(100);

  expect(anthropicToolId(`${long}1`)).not.toBe(anthropicToolId(`${long}2`));
});

const mistralIds = (...ids: string[]) => {
  const { model } = scriptedRequest();
  const messages = ids.flatMap((id) => [assistantMessage(model, toolCall(id)), toolResult(id)]);
  return withMistralToolIds(messages).map((message) => {
    if (message.role === 'toolResult') return message.toolCallId;
    const [block] = message.content;
    return typeof block === 'object' && block.type === 'toolCall' ? block.id : undefined;
  });
};

it('Mistral gets nine letters or digits for every call, and the same for its result', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ maxLength: 60 })), (ids) => {
      const forms = mistralIds(...ids);
      for (const form of forms) expect(form).toMatch(/^[a-zA-Z0-9]{9}$/);
      expect(new Set(forms).size).toBe(ids.length);
      expect(forms.filter((_form, index) => index % 2 === 1)).toEqual(forms.filter((_form, index) => index % 2 === 0));
      expect(mistralIds(...ids)).toEqual(forms);
    }),
  );
});

it('an id of Mistral stays, even if the form of another id would be equal', () => {
  const [form = ''] = mistralIds('call_of_another_model');

  const [, , foreign, , own] = mistralIds('x', 'call_of_another_model', form);

  expect(own).toBe(form);
  expect(foreign).not.toBe(form);
});
