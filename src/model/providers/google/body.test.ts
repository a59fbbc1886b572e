import { describe, expect, it } from 'vitest';
import { answered, asked, called, image, returned, text } from '../../../../test/support/providers/conversation.ts';
import type { AssistantBlock, Model } from '../../../protocol/generated/vocabulary.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { modelNamed, question } from '../../scripted/testing/rehearse.ts';
import { googleBody } from './body.ts';

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
const second = gemini('gemini-2.5-flash');
const third = gemini('gemini-3-flash-preview');
const stranger = { api: 'anthropic-messages', provider: 'anthropic', id: 'claude' };

const contents = (model: Model, ...messages: ModelMessage[]) =>
  (googleBody(question({ model, messages })) as { contents: unknown }).contents;

const call = { functionCall: { id: 'a', name: 'read', args: { path: 'a' } } };
const result = (id: string, response: object) => ({ functionResponse: { id, name: 'read', response } });
const thought = (own: object): AssistantBlock => ({ type: 'thinking', thinking: 'hm', ...own });

describe('a body', () => {
  it('holds all that is asked, and the same bytes every time', () => {
    const request = question({
      model: second,
      systemPrompt: 'Be brief.',
      messages: [asked('Hello')],
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

  it('holds no more than that for a model that does not think', () => {
    const request = question({ model: gemini('gemini-2.0-flash', { reasoning: false }), maxTokens: 50 });

    expect(googleBody(request)).toEqual({ contents: [], generationConfig: { maxOutputTokens: 50 } });
  });
});

describe('thinking', () => {
  const levels = ['off', 'minimal', 'low', 'medium', 'high'] as const;

  const config = (own: Partial<ModelRequest>) => {
    const { generationConfig } = googleBody(question(own)) as { generationConfig: { thinkingConfig: object } };
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
  ])('of %s is told as %s %j', (id, key, values) => {
    const told = levels.map((thinkingLevel) => config({ model: gemini(id), thinkingLevel }));

    const [off, ...on] = values;
    expect(told).toEqual([{ [key]: off }, ...on.map((value) => ({ includeThoughts: true, [key]: value }))]);
  });

  it('is told in the words of the model', () => {
    const model = gemini('gemma-4', { thinkingLevelMap: { high: 'HIGH' } });

    expect(config({ model, thinkingLevel: 'high' })).toEqual({ includeThoughts: true, thinkingLevel: 'HIGH' });
  });

  it('takes as many tokens as the user says', () => {
    const own = { model: second, thinkingLevel: 'low', thinkingBudgets: { low: 7 } } as const;

    expect(config(own)).toEqual({ includeThoughts: true, thinkingBudget: 7 });
  });
});

describe('the two sides', () => {
  it('speak in turn', () => {
    const messages = [asked('One'), asked([text('Two'), text('')]), answered(second, text('Yes')), asked('')];

    expect(contents(second, ...messages, answered(second, text('No')), asked([image]))).toEqual([
      { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
      { role: 'model', parts: [{ text: 'Yes' }, { text: 'No' }] },
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aW1n' } }] },
    ]);
  });

  it('keep results together, before the images among them and what is said next', () => {
    const results = [returned('a', image), { ...returned('b', text('No file')), isError: true }];

    expect(contents(second, answered(second, called('a'), called('b')), ...results, asked('Well?'))).toEqual([
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

describe('an answer', () => {
  it.each<[string, AssistantBlock[], object[]]>([
    [
      'of its own goes back with its seals',
      [
        thought({ thinkingSignature: 's' }),
        { ...text('Yes'), textSignature: 't' },
        called('a', { thoughtSignature: 'u' }),
      ],
      [
        { text: 'hm', thought: true, thoughtSignature: 's' },
        { text: 'Yes', thoughtSignature: 't' },
        { ...call, thoughtSignature: 'u' },
      ],
    ],
    ['leaves out thoughts without seal', [thought({}), text('Yes')], [{ text: 'Yes' }]],
    ['leaves out empty texts', [text(''), text('Yes')], [{ text: 'Yes' }]],
  ])('%s', (_what, blocks, parts) => {
    expect(contents(third, answered(third, ...blocks))).toEqual([{ role: 'model', parts }]);
  });

  it('without anything to send is left out', () => {
    expect(contents(second, asked('One'), answered(second, thought({})), asked('Two'))).toEqual([
      { role: 'user', parts: [{ text: 'One' }, { text: 'Two' }] },
    ]);
  });

  it.each<[string, Model, object]>([
    ['that needs no seals', second, {}],
    ['that needs seals', third, { thoughtSignature: 'skip_thought_signature_validator' }],
  ])('of another model goes in plain words to one %s', (_which, model, seal) => {
    const foreign = answered(stranger, thought({ thinkingSignature: 's' }), called('x|y'), called('z'));

    expect(contents(model, foreign, returned('x|y', text('ok')), returned('z'))).toEqual([
      {
        role: 'model',
        parts: [
          { text: 'hm' },
          { functionCall: { ...call.functionCall, id: 'x_y' }, ...seal },
          { functionCall: { ...call.functionCall, id: 'z' } },
        ],
      },
      { role: 'user', parts: [result('x_y', { output: 'ok' }), result('z', { output: '' })] },
    ]);
  });
});
