import { describe, expect, it } from 'vitest';
import type { AssistantBlock, ContentBlock, Model } from '../../../protocol/generated/vocabulary.ts';
import type { ModelMessage } from '../../request.ts';
import { answerOf, question } from '../../scripted/testing/rehearse.ts';
import { promptOf } from './prompt.ts';

const model: Model = {
  ...question().model,
  api: 'ai-sdk:acme',
  provider: 'acme',
  id: 'small',
  input: ['text', 'image'],
};
const image = { type: 'image' as const, data: 'QUJD', mimeType: 'image/png' };
const file = { type: 'file', data: 'QUJD', mediaType: 'image/png' };

const said = (content: string | ContentBlock[]): ModelMessage => ({ role: 'user', content, timestamp: 1 });
const answered = (content: AssistantBlock[], own: Partial<Model> = model): ModelMessage => ({
  ...answerOf({ content, api: own.api ?? 'x', provider: own.provider ?? 'x', model: own.id ?? 'x' }),
  timestamp: 1,
});
const result = (toolCallId: string, content: ContentBlock[], isError = false): ModelMessage => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'look',
  content,
  isError,
  timestamp: 1,
});
const text = (words: string) => ({ type: 'text' as const, text: words });
const call = (id: string): AssistantBlock => ({ type: 'toolCall', id, name: 'look', arguments: { at: id } });
const asked = (id: string, own: object = {}) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'look',
  input: { at: id },
  ...own,
});
const told = (id: string, type: string, value: string) => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'look',
  output: { type, value },
});

const prompt = (messages: ModelMessage[], own: Partial<Model> = {}) =>
  promptOf(question({ model: { ...model, ...own }, messages }));

describe('a prompt of the AI SDK', () => {
  it.each([
    ['words', [said('Hi')], [{ role: 'user', content: [text('Hi')] }]],
    ['an image', [said([text('See'), image])], [{ role: 'user', content: [text('See'), file] }]],
    ['nothing for a message without a word', [said('  '), said([text('')])], []],
    ['one message for two of the user', [said('a'), said('b')], [{ role: 'user', content: [text('a'), text('b')] }]],
    [
      'all results of an answer together, the images after them',
      [
        answered([call('1'), call('2'), call('3')]),
        result('1', [text('one'), image]),
        result('2', [text('bad')], true),
        result('3', []),
        said('And?'),
      ],
      [
        { role: 'assistant', content: [asked('1'), asked('2'), asked('3')] },
        {
          role: 'tool',
          content: [told('1', 'text', 'one'), told('2', 'error-text', 'bad'), told('3', 'text', '(no output)')],
        },
        { role: 'user', content: [text('Shown by look:'), file, text('And?')] },
      ],
    ],
    [
      'an image that ends the conversation',
      [answered([call('1')]), result('1', [image])],
      [
        { role: 'assistant', content: [asked('1')] },
        { role: 'tool', content: [told('1', 'text', '(an image, which follows)')] },
        { role: 'user', content: [text('Shown by look:'), file] },
      ],
    ],
    [
      "what the model's own answers were sealed with",
      [
        answered([
          { type: 'thinking', thinking: 'Hm', thinkingSignature: '{"acme":{"seal":1}}' },
          { type: 'thinking', thinking: '', thinkingSignature: '{"acme":{"hidden":2}}', redacted: true },
          { type: 'thinking', thinking: 'Unsealed' },
          { type: 'thinking', thinking: '' },
          { ...text('So'), textSignature: '{"acme":{"item":3}}' },
          { ...call('1'), thoughtSignature: '{"acme":{"seal":4}}' } as AssistantBlock,
          { ...text('Odd'), textSignature: 'no JSON' },
        ]),
      ],
      [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm', providerOptions: { acme: { seal: 1 } } },
            { type: 'reasoning', text: '', providerOptions: { acme: { hidden: 2 } } },
            { type: 'reasoning', text: 'Unsealed' },
            { ...text('So'), providerOptions: { acme: { item: 3 } } },
            asked('1', { providerOptions: { acme: { seal: 4 } } }),
            text('Odd'),
          ],
        },
      ],
    ],
    [
      'nothing that only another model understands',
      [
        answered(
          [
            { type: 'thinking', thinking: 'Hm', thinkingSignature: 'x' },
            { type: 'toolCall', id: 'call:1|fc_2', name: 'look', arguments: {}, thoughtSignature: 'y' },
          ],
          {},
        ),
        result('call:1|fc_2', [text('one')]),
      ],
      [
        {
          role: 'assistant',
          content: [text('Hm'), { type: 'tool-call', toolCallId: 'call_1', toolName: 'look', input: {} }],
        },
        { role: 'tool', content: [told('call_1', 'text', 'one')] },
      ],
    ],
  ])('has %s', (_what, messages, expected) => {
    expect(prompt(messages)).toEqual(expected);
  });

  it('spares a model images that it cannot see', () => {
    const seen = JSON.stringify(
      prompt([said([image]), answered([call('1')]), result('1', [image])], { input: ['text'] }),
    );

    expect(seen).not.toContain('QUJD');
  });

  it('begins with the system prompt and marks what is worth caching', () => {
    const cachePoint = { acme: { cache: true } };
    const request = question({
      model: { ...model, compat: { cachePoint } },
      systemPrompt: 'Be',
      messages: [said('a')],
    });

    expect(promptOf(request)).toEqual([
      { role: 'system', content: 'Be', providerOptions: cachePoint },
      { role: 'user', content: [text('a')], providerOptions: cachePoint },
    ]);
  });
});
