import { expect, it } from 'vitest';
import type { AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { Told } from './told.ts';

const user = (text: string): AgentMessage => ({ role: 'user', content: text, timestamp: 1 });
const shell = { role: 'bashExecution', command: 'ls', output: '', timestamp: 2 } as unknown as AgentMessage;
const [a, b, c] = [user('a'), user('b'), user('c')];

const left = (told: Told, messages: readonly AgentMessage[], total?: number) =>
  JSON.parse(told.without(JSON.stringify(messages), total)) as AgentMessage[];

it('leaves out what comes after the message that was told last', () => {
  const told = new Told();
  told.hear({ type: 'message_end', message: a });
  expect(left(told, [a])).toEqual([a]);
  expect(left(told, [a, b, c])).toEqual([a]);
  told.hear({ type: 'message_end', message: b });
  expect(left(told, [a, b, c])).toEqual([a, b]);
});

it('leaves out what comes after those that were there before anything was told', () => {
  const told = new Told();
  expect(left(told, [a])).toEqual([]);
  told.upTo(2);
  expect(left(told, [a, b, c])).toEqual([a, b]);
  expect(left(told, [b, c], 3)).toEqual([b]);
  expect(left(told, [c], 3)).toEqual([]);
});

it('keeps what users ran in the shell: it is never told', () => {
  const told = new Told();
  told.hear({ type: 'message_end', message: a });
  expect(left(told, [a, shell, b])).toEqual([a, shell]);
});

it('leaves out nothing when the last that was told is not there any more', () => {
  const told = new Told();
  told.hear({ type: 'message_end', message: a });
  expect(left(told, [b, c])).toEqual([b, c]);
});

it('leaves out the last one while it is about to be told once more', () => {
  const told = new Told();
  told.upTo(2);
  told.again();
  expect(left(told, [a, b])).toEqual([a]);
  told.hear({ type: 'message_end', message: b });
  expect(left(told, [a, b, c])).toEqual([a, b]);
  told.again();
  expect(left(told, [a, b])).toEqual([a]);
});
