import { describe, expect, it } from 'vitest';
import type { AssistantBlock, AssistantMessage, ContentBlock, Usage } from '../protocol/generated/vocabulary.ts';
import { replayableMessages } from './replay.ts';
import type { ModelMessage } from './request.ts';
import { builtIn } from './registry/testing/user-files.ts';

const model = builtIn('openai', 'gpt', { input: ['text', 'image'] });

const own = { api: model.api, provider: model.provider, model: model.id };

const assistant = (content: AssistantBlock[], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  content,
  api: 'anthropic-messages',
  provider: 'anthropic',
  model: 'opus',
  usage: {} as Usage,
  stopReason: 'stop',
  timestamp: 1,
  ...more,
});

const call = (id: string): AssistantBlock => ({
  type: 'toolCall',
  id,
  name: 'read',
  arguments: { path: 'a' },
  thoughtSignature: 's',
});

const result = (toolCallId: string, content: ContentBlock[] = []): ModelMessage => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content,
  isError: false,
  timestamp: 1,
});

const image: ContentBlock = { type: 'image', data: 'aaaa', mimeType: 'image/png' };

const short = (id: string) => id.replaceAll('|', '_');

const replayed = (...messages: ModelMessage[]) => replayableMessages(messages, model, short);

const contents = (messages: readonly ModelMessage[]) => messages.map(({ content }) => content);

describe('answers of the model itself', () => {
  it('go back as they came, seals and all', () => {
    const messages = [
      assistant(
        [
          { type: 'thinking', thinking: 'hm', thinkingSignature: 'seal' },
          { type: 'text', text: 'a', textSignature: 't' },
          call('a|b'),
        ],
        own,
      ),
      result('a|b'),
    ];

    expect(replayed(...messages)).toEqual(messages);
  });

  it('go back where all they hold is a sealed thought', () => {
    const signed = assistant([{ type: 'thinking', thinking: '', thinkingSignature: 'seal', redacted: true }], own);

    expect(replayed(signed)).toEqual([signed]);
  });
});

describe('answers of other models', () => {
  it('lose their seals, and what was thought becomes text', () => {
    const [content] = contents(
      replayed(
        assistant([
          { type: 'thinking', thinking: 'hm', thinkingSignature: 'seal' },
          { type: 'text', text: 'a', textSignature: 't' },
        ]),
      ),
    );

    expect(content).toEqual([
      { type: 'text', text: 'hm' },
      { type: 'text', text: 'a' },
    ]);
  });

  it('lose thoughts that nobody can read', () => {
    const hidden: AssistantBlock[] = [
      { type: 'thinking', thinking: 'sealed', thinkingSignature: 'seal', redacted: true },
      { type: 'thinking', thinking: ' ' },
    ];

    expect(contents(replayed(assistant([...hidden, { type: 'text', text: 'a' }])))).toEqual([
      [{ type: 'text', text: 'a' }],
    ]);
    expect(replayed(assistant(hidden))).toEqual([]);
  });

  it.each([
    ['api', { api: 'openai-responses' }],
    ['provider', { provider: 'azure' }],
    ['model', { model: 'gpt-2' }],
  ])('are those of another %s', (_what, other) => {
    const [content] = contents(replayed(assistant([{ type: 'thinking', thinking: 'hm' }], { ...own, ...other })));

    expect(content).toEqual([{ type: 'text', text: 'hm' }]);
  });

  it('have ids that this one takes, and so have the results', () => {
    expect(replayed(assistant([call('a|b')]), result('a|b'))).toMatchObject([
      { content: [{ type: 'toolCall', id: 'a_b', name: 'read', arguments: { path: 'a' } }] },
      { toolCallId: 'a_b' },
    ]);
    expect(JSON.stringify(replayed(assistant([call('a|b')])))).not.toContain('thoughtSignature');
  });

  it('do not change the ids of an own call that has the same later on', () => {
    const later = replayed(assistant([call('a|b')]), result('a|b'), assistant([call('a|b')], own), result('a|b'));

    expect(later.slice(2)).toMatchObject([{ content: [{ id: 'a|b' }] }, { toolCallId: 'a|b' }]);
  });
});

it('an answer without a word is left out', () => {
  expect(replayed(assistant([]), assistant([{ type: 'text', text: ' \n' }], own))).toEqual([]);
});

describe('images', () => {
  const images: ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'see' }, image], timestamp: 1 },
    result('a', [image]),
    { role: 'user', content: 'plain', timestamp: 1 },
  ];

  it('go to a model that sees', () => {
    expect(replayed(...images)).toEqual(images);
  });

  it('are said in words to one that does not', () => {
    const texts = { type: 'text', text: '[An image, which this model cannot see]' };

    expect(contents(replayableMessages(images, builtIn('openai', 'gpt'), short))).toEqual([
      [{ type: 'text', text: 'see' }, texts],
      [texts],
      'plain',
    ]);
  });
});
