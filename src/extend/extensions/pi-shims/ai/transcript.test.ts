import { expect, it } from 'vitest';
import type { SystemMessage } from '../../../../model/registry/provider-config.ts';
import * as transcript from './transcript.ts';

const tool = (name: string, description = '') => ({ name, description, parameters: { type: 'object' } });
const user = { role: 'user' as const, content: 'hello', timestamp: 1 };
const system = (own: Partial<SystemMessage>): SystemMessage => ({ role: 'system', content: '', timestamp: 5, ...own });

it('prompt and tools become the first system message, and override one that is there', () => {
  const made = transcript.normalizeContext({ systemPrompt: 'be kind', tools: [tool('read')], messages: [user] });

  expect(made.messages).toEqual([
    { role: 'system', content: 'be kind', toolsAdded: [tool('read')], timestamp: 0 },
    user,
  ]);
  expect(transcript.normalizeContext({ ...made, systemPrompt: 'be brief' }).messages).toEqual([
    { role: 'system', content: 'be brief', toolsAdded: [tool('read')], timestamp: 0 },
    user,
  ]);
  expect(transcript.normalizeContext(made)).toEqual(made);
  expect(transcript.normalizeContext({ systemPrompt: '', messages: [user] }).messages).toEqual([user]);
});

it('later system messages change the prompt, its sections and the tools', () => {
  const messages = [
    system({
      content: 'base',
      sections: { style: 'short', date: 'monday' },
      toolsAdded: [tool('read'), tool('write')],
    }),
    user,
    system({
      content: [{ type: 'text', text: 'more' }],
      sections: { style: 'long', date: null },
      toolsRemoved: [{ name: 'write' }],
      toolsAdded: [tool('grep')],
    }),
  ];

  expect(transcript.getCurrentSystemPrompt(messages)).toBe('base\n\nmore\n\nlong');
  expect(transcript.getCurrentTools(messages).map(({ name }) => name)).toEqual(['read', 'grep']);
  expect(transcript.collapseSystemMessages({ messages }).messages).toEqual([
    {
      role: 'system',
      content: 'base\n\nmore',
      sections: { style: 'long' },
      toolsAdded: [tool('read'), tool('grep')],
      timestamp: 5,
    },
    user,
  ]);
  expect(transcript.resolveTranscript({ messages }, true)).toEqual({ messages });
  expect(transcript.hasNonAdditiveToolChanges(messages)).toBe(true);
  expect(
    transcript.renderSystemMessageUpdate(system({ content: 'more', sections: { style: null, date: 'friday' } })),
  ).toMatch(/^more\n\n.*"style".*\n\n.*"date".*\n\nfriday$/);
});

it('a changed tool is removed and added', () => {
  const changes = transcript.getToolStateChanges([tool('read'), tool('write')], [tool('read', 'new'), tool('write')]);

  expect(changes).toEqual({ toolsAdded: [tool('read', 'new')], toolsRemoved: [{ name: 'read' }] });
  expect(
    transcript.hasToolRedefinitions([system({ toolsAdded: [tool('a')] }), system({ toolsAdded: [tool('a', 'b')] })]),
  ).toBe(true);
  expect(
    transcript.hasToolRedefinitions([system({ toolsAdded: [tool('a')] }), system({ toolsAdded: [tool('a')] })]),
  ).toBe(false);
});
