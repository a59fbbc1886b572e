import { expect, test } from 'vitest';
import { said } from './testing/dialogue.ts';
import { hear, question, scripted } from './testing/rehearse.ts';

const text = (words: string) => ({ type: 'text' as const, text: words });

test('a script is played in order and then has no more answers', async () => {
  const provider = scripted({ text: 'one' }, { text: 'two' });

  const heard = [await hear(provider), await hear(provider), await hear(provider)];

  expect(heard.map(({ message }) => message.content)).toEqual([
    [text('one')],
    [text('two')],
    [text('The script has no more answers.')],
  ]);
});

test('a script that repeats starts over', async () => {
  const provider = scripted({ text: 'one' }, { text: 'two' }, { repeat: true });

  const heard = [await hear(provider), await hear(provider), await hear(provider)];

  expect(heard.map(({ message }) => message.content)).toEqual([[text('one')], [text('two')], [text('one')]]);
});

test('answers with a condition wait for it, and stay when they are kept', async () => {
  const provider = scripted(
    { text: 'hello', when: '^hi' },
    { text: 'pong', when: 'ping', keep: true },
    { text: 'anything' },
  );
  const answer = async (words: string) => {
    const { message } = await hear(provider, question({ messages: [said('hi, ping'), said(words)] }));
    return message.content;
  };

  expect(await answer('ping')).toEqual([text('pong')]);
  expect(await answer('what')).toEqual([text('anything')]);
  expect(await answer('hi, ping')).toEqual([text('hello')]);
  expect(await answer('hi, ping')).toEqual([text('pong')]);
  expect(await answer('hi')).toEqual([text('The script has no more answers.')]);
});
