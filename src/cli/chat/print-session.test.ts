import { expect, it } from 'vitest';
import type { AgentEvent, AgentMessage } from '../../protocol/generated/vocabulary.ts';
import { OwnMessages } from './own-messages.ts';
import { SessionPrinter } from './print-session.ts';
import { Printer, plainInk } from './printer.ts';

const userMessage = (text: string, timestamp: number): AgentMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  timestamp,
});

const synced = (...messages: AgentMessage[]): AgentEvent => ({
  type: 'state_synced',
  state: { sessionId: 's1', cwd: '/work', messageCount: messages.length } as never,
  messages,
});

/** The user messages that are printed for these events. */
function promptsFor(...events: readonly AgentEvent[]): readonly string[] {
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  const printer = new SessionPrinter(new OwnMessages(), new Printer({ atLineStart: true, print }, plainInk));
  for (const event of events) printer.handleEvent(event);
  return printed.match(/^› .*$/gm) ?? [];
}

it('a repeated snapshot prints only the messages after those on the screen', () => {
  const [one, two, three] = [userMessage('one', 10), userMessage('two', 20), userMessage('three', 30)];

  expect(promptsFor(synced(one), { type: 'message_end', message: two }, synced(one, two, three))).toEqual([
    '› one',
    '› two',
    '› three',
  ]);
});

it('[W165] a message of a node whose clock is behind is printed', () => {
  const [one, two] = [userMessage('one', 10_000), userMessage('two', 9000)];

  expect(promptsFor(synced(one), synced(one, two), synced(one, two))).toEqual(['› one', '› two']);
});

it('messages before those on the screen are not printed', () => {
  const [older, one] = [userMessage('older', 5), userMessage('one', 10)];

  expect(promptsFor(synced(one), synced(older, one), synced(older))).toEqual(['› one']);
});
