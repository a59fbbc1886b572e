import { describe, expect, it } from 'vitest';
import {
  assistantMessage,
  image,
  textBlock,
  toolCall,
  toolResult,
  userMessage,
} from '../../../../test/support/providers/messages.ts';
import type { AssistantBlock, Model } from '../../../protocol/generated/vocabulary.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { modelNamed, scriptedRequest } from '../../scripted/testing/call.ts';
import { googleBody } from './adapter.ts';

const gemini = (id: string, own: Partial<Model> = {}): Model => ({
  ...modelNamed('scripted'),
  id,
  api: 'google-generative-ai',
  provider: 'google',
  reasoning: true,
  input: ['text', 'image'],
  maxTokens: 1000,
  ...own,
});
const gemini2 = gemini('gemini-2.5-flash');
const gemini3 = gemini('gemini-3-flash-preview');
const otherModel = { api: 'anthropic-messages', provider: 'anthropic', id: 'claude' };

const contents = (model: Model, ...messages: ModelMessage[]) =>
  (googleBody(scriptedRequest({ model, messages })) as { contents: unknown }).contents;

const call = { functionCall: { id: 'a', name: 'read', args: { path: 'a' } } };
const result = (id: string, response: object) => ({ functionResponse: { id, name: 'read', response } });
const thinkingBlock = (own: object): AssistantBlock => ({ type: 'thinking', thinking: 'hm', ...own });

describe('a request body', () => {
  it('holds the whole request in equal bytes', () => {
    const request = scriptedRequest({
      model: gemini2,
      systemPrompt: 'Be brief.',
      messages: [userMessage('Hello')],
      tools: [{ name: 'read', description: 'Reads', parameters: { type: 'object', properties: {} } }],
      thinkingLevel: 'low',
    });

    expect(JSON.stringify(googleBody(request))).toBe(
      JSON.stringify({
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        tools: [
          {
            functionDeclarations: [
              { name: 'read', description: 'Reads', parametersJsonSchema: { type: 'object', properties: {} } },
            ],
          },
        ],
        generationConfig: {
          maxOutputTokens: 1000,
          thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 },
        },
      }),
    );
  });

  it('has no thinking fields for a model without reasoning', () => {
    const request = scriptedRequest({ model: gemini('gemini-2.0-flash', { reasoning: false }), maxTokens: 50 });

    expect(googleBody(request)).toEqual({ contents: [], generationConfig: { maxOutputTokens: 50 } });
  });
});

describe('thinking', () => {
  const levels = ['off', 'minimal', 'low', 'medium', 'high'] as const;

  const config = (own: Partial<ModelRequest>) => {
    const { generationConfig } = googleBody(scriptedRequest(own)) as { generationConfig: { thinkingConfig: object } };
    return generationConfig.thinkingConfig;
  };

  it.each<[string, string, readonly (string | number)[]]>([
    ['gemini-2.5-pro', 'thinkingBudget', [128, 128, 2048, 8192, 32768]],
    ['gemini-2.5-flash', 'thinkingBudget', [0, 128, 2048, 8192, 24576]],
    ['gemini-2.5-flash-lite', 'thinkingBudget', [0, 512, 2048, 8192, 24576]],
    ['gemini-3-pro-preview', 'thinkingLevel', ['LOW', 'LOW', 'LOW', 'HIGH', 'HIGH']],
    ['gemini-3.5-flash', 'thinkingLevel', ['MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
    ['gemini-10-flash', 'thinkingLevel', ['MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
    ['gemini-flash-latest', 'thinkingLevel', ['MINIMAL', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH']],
  ])('of %s is sent as %s %j', (id, key, values) => {
    const configs = levels.map((thinkingLevel) => config({ model: gemini(id), thinkingLevel }));

    const [off, ...on] = values;
    expect(configs).toEqual([{ [key]: off }, ...on.map((value) => ({ includeThoughts: true, [key]: value }))]);
  });

  it('is sent with the level names of the model', () => {
    const model = gemini('gemma-4', { thinkingLevelMap: { high: 'HIGH' } });

    expect(config({ model, thinkingLevel: 'high' })).toEqual({ includeThoughts: true, thinkingLevel: 'HIGH' });
  });

  it('uses the budget of the user', () => {
    const own = { model: gemini2, thinkingLevel: 'low', thinkingBudgets: { low: 7 } } as const;

    expect(config(own)).toEqual({ includeThoughts: true, thinkingBudget: 7 });
  });
});

describe('the two roles', () => {
  it('alternate', () => {
    const messages = [
      userMessage('One'),
      userMessage([textBlock('Two'), textBlock('')]),
      assistantMessage(gemini2, textBlock('Yes')),
      userMessage(''),
    ];

    expect(contents(gemini2, ...messages, assistantMessage(gemini2, textBlock('No')), userMessage([image]))).toEqual([
      { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'model', parts: [{ text: 'Yes' }, { text: 'No' }] },
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aW1n' } }] },
    ]);
  });

  it('keep results together, before their images and later text', () => {
    const results = [toolResult('a', image), { ...toolResult('b', textBlock('No file')), isError: true }];

    expect(
      contents(gemini2, assistantMessage(gemini2, toolCall('a'), toolCall('b')), ...results, userMessage('Well?')),
    ).toEqual([
      { role: 'model', parts: [call, { functionCall: { ...call.functionCall, id: 'b' } }] },
      {
        role: 'user',
        parts: [
          result('a', { output: '(an image, shown below)' }),
          result('b', { error: 'No file' }),
          { text: 'What read shows:' },
          { inlineData: { mimeType: 'image/png', data: 'aW1n' } },
          { text: 'Well?' },
        ],
      },
    ]);
  });
});

describe('an assistant message', () => {
  it.each<[string, AssistantBlock[], object[]]>([
    [
      'of the same model is replayed with its signatures',
      [
        thinkingBlock({ thinkingSignature: 's' }),
        { ...textBlock('Yes'), textSignature: 't' },
        toolCall('a', { thoughtSignature: 'u' }),
      ],
      [
        { text: 'hm', thought: true, thoughtSignature: 's' },
        { text: 'Yes', thoughtSignature: 't' },
        { ...call, thoughtSignature: 'u' },
      ],
    ],
    ['omits thinking without a signature', [thinkingBlock({}), textBlock('Yes')], [{ text: 'Yes' }]],
    ['omits empty texts', [textBlock(''), textBlock('Yes')], [{ text: 'Yes' }]],
  ])('%s', (_what, blocks, parts) => {
    expect(contents(gemini3, assistantMessage(gemini3, ...blocks))).toEqual([{ role: 'model', parts }]);
  });

  it('without parts is omitted', () => {
    expect(
      contents(gemini2, userMessage('One'), assistantMessage(gemini2, thinkingBlock({})), userMessage('Two')),
    ).toEqual([{ role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] }]);
  });

  it.each<[string, Model, object]>([
    ['that needs no signatures', gemini2, {}],
    ['that needs signatures', gemini3, { thoughtSignature: 'skip_thought_signature_validator' }],
  ])('of another model is plain text for one %s', (_which, model, signature) => {
    const foreign = assistantMessage(
      otherModel,
      thinkingBlock({ thinkingSignature: 's' }),
      toolCall('x|y'),
      toolCall('z'),
    );

    expect(contents(model, foreign, toolResult('x|y', textBlock('ok')), toolResult('z'))).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'hm' },
          { functionCall: { ...call.functionCall, id: 'x_y' }, ...signature },
          { functionCall: { ...call.functionCall, id: 'z' } },
        ],
      },
      { role: 'user', parts: [result('x_y', { output: 'ok' }), result('z', { output: '' })] },
    ]);
  });
});
