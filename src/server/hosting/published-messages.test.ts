import { expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { PublishedMessages } from './published-messages.ts';

const user = (text: string): AgentMessage => ({ role: 'user', content: text, timestamp: 1 });
const shell = { role: 'bashExecution', command: 'ls', output: '', timestamp: 2 } as unknown as AgentMessage;
const [a, b, c] = [user('a'), user('b'), user('c')];

const filtered = (published: PublishedMessages, messages: readonly AgentMessage[], total?: number) =>
  JSON.parse(published.withoutUnpublished(JSON.stringify(messages), total)) as AgentMessage[];

it('leaves out what comes after the message that was told last', () => {
  const published = new PublishedMessages();
  published.apply({ type: 'message_end', message: a });
  expect(filtered(published, [a])).toEqual([a]);
  expect(filtered(published, [a, b, c])).toEqual([a]);
  published.apply({ type: 'message_end', message: b });
  expect(filtered(published, [a, b, c])).toEqual([a, b]);
});

it('leaves out what comes after those that were there before anything was told', () => {
  const published = new PublishedMessages();
  expect(filtered(published, [a])).toEqual([]);
  published.markUpTo(2);
  expect(filtered(published, [a, b, c])).toEqual([a, b]);
  expect(filtered(published, [b, c], 3)).toEqual([b]);
  expect(filtered(published, [c], 3)).toEqual([]);
});

it('keeps what users ran in the shell: it is never told', () => {
  const published = new PublishedMessages();
  published.apply({ type: 'message_end', message: a });
  expect(filtered(published, [a, shell, b])).toEqual([a, shell]);
});

it('leaves out nothing when the last that was told is not there any more', () => {
  const published = new PublishedMessages();
  published.apply({ type: 'message_end', message: a });
  expect(filtered(published, [b, c])).toEqual([b, c]);
});

it('leaves out the last one while it is about to be told once more', () => {
  const published = new PublishedMessages();
  published.markUpTo(2);
  published.expectRepeat();
  expect(filtered(published, [a, b])).toEqual([a]);
  published.apply({ type: 'message_end', message: b });
  expect(filtered(published, [a, b, c])).toEqual([a, b]);
  published.expectRepeat();
  expect(filtered(published, [a, b])).toEqual([a]);
});
