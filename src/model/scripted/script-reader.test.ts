import { expect, test } from 'vitest';
import { callToEnd, scripted, scriptedRequest } from './testing/call.ts';
import { userMessage } from './testing/messages.ts';

const text = (content: string) => ({ type: 'text' as const, text: content });

test('a script is played in order and then has no more answers', async () => {
  const provider = scripted({ text: 'one' }, { text: 'two' });

  const records = [await callToEnd(provider), await callToEnd(provider), await callToEnd(provider)];

  expect(records.map(({ message }) => message.content)).toEqual([
    [text('one')],
    [text('two')],
    [text('The script has no more answers.')],
  ]);
});

test('a script that repeats starts over', async () => {
  const provider = scripted({ text: 'one' }, { text: 'two' }, { repeat: true });

  const records = [await callToEnd(provider), await callToEnd(provider), await callToEnd(provider)];

  expect(records.map(({ message }) => message.content)).toEqual([[text('one')], [text('two')], [text('one')]]);
});

test('answers with a condition wait for it, and stay if they are kept', async () => {
  const provider = scripted(
    { text: 'hello', when: '^hi' },
    { text: 'pong', when: 'ping', keep: true },
    { text: 'anything' },
  );
  const respondTo = async (prompt: string) => {
    const { message } = await callToEnd(
      provider,
      scriptedRequest({ messages: [userMessage('hi, ping'), userMessage(prompt)] }),
    );
    return message.content;
  };

  expect(await respondTo('ping')).toEqual([text('pong')]);
  expect(await respondTo('what')).toEqual([text('anything')]);
  expect(await respondTo('hi, ping')).toEqual([text('hello')]);
  expect(await respondTo('hi, ping')).toEqual([text('pong')]);
  expect(await respondTo('hi')).toEqual([text('The script has no more answers.')]);
});
