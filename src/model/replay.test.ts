import { describe, expect, it } from 'vitest';
import type { AssistantBlock, AssistantMessage, ContentBlock, Usage } from '../protocol/generated/vocabulary.ts';
import { builtIn } from './registry/testing/user-files.ts';
import { replayableMessages } from './replay.ts';
import type { ModelMessage } from './request.ts';

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

describe('messages of the same model', () => {
  it('are replayed unchanged, with signatures', () => {
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

  it('are replayed even if they hold only signed thinking', () => {
    const signed = assistant([{ type: 'thinking', thinking: '', thinkingSignature: 'seal', redacted: true }], own);

    expect(replayed(signed)).toEqual([signed]);
  });
});

describe('[L32] messages of other models', () => {
  it('lose their signatures, and their thinking becomes text', () => {
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

  it('lose hidden thinking', () => {
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

  it('get ids that this model accepts, and so do the results', () => {
    expect(replayed(assistant([call('a|b')]), result('a|b'))).toMatchObject([
      { content: [{ type: 'toolCall', id: 'a_b', name: 'read', arguments: { path: 'a' } }] },
      { toolCallId: 'a_b' },
    ]);
    expect(JSON.stringify(replayed(assistant([call('a|b')])))).not.toContain('thoughtSignature');
  });

  it('do not change the ids of a later call of the same model', () => {
    const later = replayed(assistant([call('a|b')]), result('a|b'), assistant([call('a|b')], own), result('a|b'));

    expect(later.slice(2)).toMatchObject([{ content: [{ id: 'a|b' }] }, { toolCallId: 'a|b' }]);
  });
});

it('an empty assistant message is omitted', () => {
  expect(replayed(assistant([]), assistant([{ type: 'text', text: ' \n' }], own))).toEqual([]);
});

describe('images', () => {
  const images: ModelMessage[] = [
    { role: 'user', content: [{ type: 'text', text: 'see' }, image], timestamp: 1 },
    result('a', [image]),
    { role: 'user', content: 'plain', timestamp: 1 },
  ];

  it('are sent to a model with image input', () => {
    expect(replayed(...images)).toEqual(images);
  });

  it('become text for a model without image input', () => {
    const texts = { type: 'text', text: '[An image, which this model cannot see]' };

    expect(contents(replayableMessages(images, builtIn('openai', 'gpt'), short))).toEqual([
      [{ type: 'text', text: 'see' }, texts],
      [texts],
      'plain',
    ]);
  });
});
