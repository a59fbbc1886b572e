import { describe, expect, it } from 'vitest';
import { anthropicBody, headersFor } from './body.ts';
import {
  anthropicRequest,
  assistant,
  call,
  claude,
  picture,
  result,
  text,
  tool,
  user,
} from './testing/conversation.ts';

const mark = { cache_control: { type: 'ephemeral' } };
const marks = (body: object) => JSON.stringify(body).match(/cache_control/g)?.length ?? 0;

describe('the body', () => {
  it('holds the whole request in a fixed order', () => {
    const body = anthropicBody(anthropicRequest({ tools: [tool('read'), tool('write')], thinkingLevel: 'low' }));

    expect(JSON.stringify(body)).toBe(
      JSON.stringify({
        model: 'claude-sonnet-4-5',
        max_tokens: 64_000,
        thinking: { type: 'enabled', budget_tokens: 2048 },
        system: [{ ...text('Be brief.'), ...mark }],
        tools: [
          { name: 'read', description: 'Does read', input_schema: tool('read').parameters },
          { name: 'write', description: 'Does write', input_schema: tool('write').parameters, ...mark },
        ],
        messages: [{ role: 'user', content: [{ ...text('hi'), ...mark }] }],
        stream: true,
      }),
    );
  });

  it('omits empty fields', () => {
    const body = anthropicBody(anthropicRequest({ systemPrompt: '\n' }));

    expect(Object.keys(body)).toEqual(['model', 'max_tokens', 'messages', 'stream']);
  });

  it('has equal bytes for equal requests, whatever their time', () => {
    const messages = [user('go'), assistant([call('a|b')], { model: 'other' }), result('a|b', '1')];
    const later = messages.map((message) => ({ ...message, timestamp: 99 }));

    expect(JSON.stringify(anthropicBody(anthropicRequest({ messages: later })))).toBe(
      JSON.stringify(anthropicBody(anthropicRequest({ messages }))),
    );
  });

  it('declares the parameters of a tool as an object', () => {
    const body = anthropicBody(
      anthropicRequest({ tools: [{ name: 'now', description: 'Tells the time', parameters: {} }] }),
    );

    expect(body.tools).toEqual([
      { name: 'now', description: 'Tells the time', input_schema: { type: 'object' }, ...mark },
    ]);
  });
});

describe('the cache mark', () => {
  it.each([
    ['a result', [user('go'), assistant([call('a'), call('b')]), result('a', '1'), result('b', '2')]],
    ['an image', [user([text('see'), picture()])]],
    ['a text beside results', [user('go'), assistant([call('a')]), result('a', '1'), user('and')]],
  ])('is on the last user block, such as %s', (_what, messages) => {
    const body = anthropicBody(anthropicRequest({ messages }));

    expect(body.messages.at(-1)?.content.at(-1)).toMatchObject(mark);
    expect(marks(body)).toBe(2);
  });

  it('is on no assistant message', () => {
    const body = anthropicBody(anthropicRequest({ messages: [user('go'), assistant([text('1')])] }));

    expect(body.messages).toEqual([
      { role: 'user', content: [{ ...text('go'), ...mark }] },
      { role: 'assistant', content: [text('1')] },
    ]);
  });
});

describe('the headers', () => {
  const version = { 'anthropic-version': '2023-06-01' };
  const interleaved = 'interleaved-thinking-2025-05-14';

  it.each([
    ['a key', 'sk-ant-api03-x', { 'x-api-key': 'sk-ant-api03-x' }],
    ['an account', 'sk-ant-oat01-x', { authorization: 'Bearer sk-ant-oat01-x', 'anthropic-beta': 'oauth-2025-04-20' }],
    ['nothing', undefined, {}],
  ])('authenticate by %s', (_what, key, own) => {
    expect(headersFor(key, anthropicBody(anthropicRequest()))).toEqual({ ...version, ...own });
  });

  it('enable interleaved thinking with a budget and tools', () => {
    const beta = (...options: Parameters<typeof anthropicRequest>) =>
      headersFor('k', anthropicBody(anthropicRequest(...options)))['anthropic-beta'];
    const tools = [tool('read')];

    expect(beta({ thinkingLevel: 'low', tools })).toBe(interleaved);
    expect(beta({ thinkingLevel: 'low' })).toBeUndefined();
    expect(beta({ tools })).toBeUndefined();
    expect(beta({ thinkingLevel: 'low', tools, model: { ...claude, id: 'claude-opus-4-6' } })).toBeUndefined();
    expect(
      headersFor('sk-ant-oat01-x', anthropicBody(anthropicRequest({ thinkingLevel: 'low', tools }))),
    ).toMatchObject({
      'anthropic-beta': `oauth-2025-04-20,${interleaved}`,
    });
  });
});
