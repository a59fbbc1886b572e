import { expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { PublishedMessages } from './published-messages.ts';

const user = (text: string): AgentMessage => ({ role: 'user', content: text, timestamp: 1 });
const shell = { role: 'bashExecution', command: 'ls', output: '', timestamp: 2 } as unknown as AgentMessage;
const [a, b, c] = [user('a'), user('b'), user('c')];

const filtered = (published: PublishedMessages, messages: readonly AgentMessage[], total?: number) =>
  JSON.parse(published.withoutUnpublished(JSON.stringify(messages), total)) as AgentMessage[];

it('messages after the last published one are left out', () => {
  const published = new PublishedMessages();
  published.apply({ type: 'message_end', message: a });
  expect(filtered(published, [a])).toEqual([a]);
  expect(filtered(published, [a, b, c])).toEqual([a]);
  published.apply({ type: 'message_end', message: b });
  expect(filtered(published, [a, b, c])).toEqual([a, b]);
});

it('messages after the initially known ones are left out', () => {
  const published = new PublishedMessages();
  expect(filtered(published, [a])).toEqual([]);
  published.markUpTo(2);
  expect(filtered(published, [a, b, c])).toEqual([a, b]);
  expect(filtered(published, [b, c], 3)).toEqual([b]);
  expect(filtered(published, [c], 3)).toEqual([]);
});

it('bash messages are kept: they are never published as events', () => {
  const published = new PublishedMessages();
  published.apply({ type: 'message_end', message: a });
  expect(filtered(published, [a, shell, b])).toEqual([a, shell]);
});

it('all messages are kept if the last published one is no longer among them', () => {
  const published = new PublishedMessages();
  published.apply({ type: 'message_end', message: a });
  expect(filtered(published, [b, c])).toEqual([b, c]);
});

it('the last message is left out while its repeat is expected', () => {
  const published = new PublishedMessages();
  published.markUpTo(2);
  published.expectRepeat();
  expect(filtered(published, [a, b])).toEqual([a]);
  published.apply({ type: 'message_end', message: b });
  expect(filtered(published, [a, b, c])).toEqual([a, b]);
  published.expectRepeat();
  expect(filtered(published, [a, b])).toEqual([a]);
});
