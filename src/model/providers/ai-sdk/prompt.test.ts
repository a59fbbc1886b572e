import { describe, expect, it } from 'vitest';
import {
  assistantMessage,
  image,
  textBlock,
  toolCall,
  toolResult,
  userMessage,
} from '../../../../test/support/providers/messages.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { ModelMessage } from '../../request.ts';
import { scriptedRequest } from '../../scripted/testing/call.ts';
import { encodePrompt } from './prompt.ts';

const model: Model = {
  ...scriptedRequest().model,
  api: 'ai-sdk:acme',
  provider: 'acme',
  id: 'small',
  input: ['text', 'image'],
};
const otherModel = { ...model, id: 'other' };
const file = { type: 'file', data: 'aW1n', mediaType: 'image/png' };

const call = (id: string, own: object = {}) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'read',
  input: { path: 'a' },
  ...own,
});
const result = (id: string, type: string, value: string) => ({
  type: 'tool-result',
  toolCallId: id,
  toolName: 'read',
  output: { type, value },
});

const prompt = (messages: ModelMessage[], own: Partial<Model> = {}) =>
  encodePrompt(scriptedRequest({ model: { ...model, ...own }, messages }), 'v3');

describe('a prompt for the AI SDK', () => {
  it.each([
    ['text', [userMessage('Hi')], [{ role: 'user', content: [textBlock('Hi')] }]],
    ['an image', [userMessage([textBlock('See'), image])], [{ role: 'user', content: [textBlock('See'), file] }]],
    ['no message for blank text', [userMessage('  '), userMessage([textBlock('')])], []],
    [
      'one message for two user messages',
      [userMessage('a'), userMessage('b')],
      [{ role: 'user', content: [textBlock('a'), textBlock('b')] }],
    ],
    [
      'all results of a message together, the images after them',
      [
        assistantMessage(model, toolCall('1'), toolCall('2'), toolCall('3')),
        toolResult('1', textBlock('one'), image),
        { ...toolResult('2', textBlock('bad')), isError: true },
        toolResult('3'),
        userMessage('And?'),
      ],
      [
        { role: 'assistant', content: [call('1'), call('2'), call('3')] },
        {
          role: 'tool',
          content: [result('1', 'text', 'one'), result('2', 'error-text', 'bad'), result('3', 'text', '(no output)')],
        },
        { role: 'user', content: [textBlock('Shown by read:'), file, textBlock('And?')] },
      ],
    ],
    [
      'an image that ends the conversation',
      [assistantMessage(model, toolCall('1')), toolResult('1', image)],
      [
        { role: 'assistant', content: [call('1')] },
        { role: 'tool', content: [result('1', 'text', '(an image, which follows)')] },
        { role: 'user', content: [textBlock('Shown by read:'), file] },
      ],
    ],
    [
      'the signatures of the same model',
      [
        assistantMessage(
          model,
          { type: 'thinking', thinking: 'Hm', thinkingSignature: '{"acme":{"seal":1}}' },
          { type: 'thinking', thinking: '', thinkingSignature: '{"acme":{"hidden":2}}', redacted: true },
          { type: 'thinking', thinking: 'Unsealed' },
          { type: 'thinking', thinking: '' },
          { ...textBlock('So'), textSignature: '{"acme":{"item":3}}' },
          toolCall('1', { thoughtSignature: '{"acme":{"seal":4}}' }),
          { ...textBlock('Odd'), textSignature: 'no JSON' },
        ),
      ],
      [
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm', providerOptions: { acme: { seal: 1 } } },
            { type: 'reasoning', text: '', providerOptions: { acme: { hidden: 2 } } },
            { type: 'reasoning', text: 'Unsealed' },
            { ...textBlock('So'), providerOptions: { acme: { item: 3 } } },
            call('1', { providerOptions: { acme: { seal: 4 } } }),
            textBlock('Odd'),
          ],
        },
      ],
    ],
    [
      'no signatures of another model',
      [
        assistantMessage(
          otherModel,
          { type: 'thinking', thinking: 'Hm', thinkingSignature: 'x' },
          toolCall('call:1|fc_2', { thoughtSignature: 'y' }),
        ),
        toolResult('call:1|fc_2', textBlock('one')),
      ],
      [
        {
          role: 'assistant',
          content: [textBlock('Hm'), call('call_1')],
        },
        { role: 'tool', content: [result('call_1', 'text', 'one')] },
      ],
    ],
  ])('has %s', (_what, messages, expected) => {
    expect(prompt(messages)).toEqual(expected);
  });

  it('omits images that the model cannot see', () => {
    const encoded = JSON.stringify(
      prompt([userMessage([image]), assistantMessage(model, toolCall('1')), toolResult('1', image)], {
        input: ['text'],
      }),
    );

    expect(encoded).not.toContain('aW1n');
  });

  it('begins with the system prompt and marks the prefix to cache', () => {
    const cachePoint = { acme: { cache: true } };
    const request = scriptedRequest({
      model: { ...model, compat: { cachePoint } },
      systemPrompt: 'Be',
      messages: [userMessage('a')],
    });

    expect(encodePrompt(request, 'v3')).toEqual([
      { role: 'system', content: 'Be', providerOptions: cachePoint },
      { role: 'user', content: [textBlock('a')], providerOptions: cachePoint },
    ]);
  });
});
