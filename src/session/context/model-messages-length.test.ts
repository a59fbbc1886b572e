import { expect, it } from 'vitest';
import type { ModelMessage } from '../../model/request.ts';
import { fitMessages } from './model-messages.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content, timestamp: 0 });

const ROOM = { usable: 1000, overhead: 100 };

it('messages that fit are returned unchanged', () => {
  const messages = [user('x'.repeat(3600))];

  expect(fitMessages(messages, ROOM)).toBe(messages);
});

it('only messages above the share are shortened, to the largest share that fits', () => {
  const messages = [user('a'.repeat(1000)), user('b'.repeat(100_000))];

  const [short, long] = fitMessages(messages, ROOM);

  expect(short).toBe(messages[0]);
  expect(long?.content).toHaveLength(
    2000 + `\n\n[… 98000 of 100000 characters left out: they do not fit into the context …]\n\n`.length,
  );
  expect(long?.content).toContain('[… 98000 of 100000 characters left out');
});

it('several long messages share the room, and images and short blocks stay', () => {
  const image = { type: 'image', data: '', mimeType: 'image/png' } as const;
  const messages: ModelMessage[] = ['a', 'b', 'c'].map((letter) => ({
    role: 'user',
    content: [{ type: 'text', text: letter.repeat(10_000) }],
    timestamp: 0,
  }));
  const withImage: ModelMessage = {
    role: 'user',
    content: [{ type: 'text', text: 'd'.repeat(9000) }, image],
    timestamp: 0,
  };

  const fitted = fitMessages([...messages, withImage], ROOM);

  expect(fitted.slice(0, 3).map(({ content }) => JSON.stringify(content).length < 800)).toEqual([true, true, true]);
  expect(fitted[3]?.content).toEqual([expect.objectContaining({ type: 'text' }), image]);
});

it('no character is cut in half', () => {
  const [message] = fitMessages([user(`x${'😀'.repeat(10_000)}`)], ROOM);

  expect(String(message?.content)).not.toMatch(
    /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/,
  );
});
