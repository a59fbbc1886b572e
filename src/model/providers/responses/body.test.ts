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
import { responsesBody } from './body.ts';

const model: Model = {
  ...modelNamed('scripted'),
  id: 'gpt',
  api: 'openai-responses',
  provider: 'openai',
  reasoning: true,
  input: ['text', 'image'],
  maxTokens: 1000,
};
const otherModel = { api: 'anthropic-messages', provider: 'anthropic', id: 'claude' };

const body = (own: Partial<ModelRequest>) =>
  responsesBody(scriptedRequest({ model, ...own })) as Record<string, unknown>;
const input = (...messages: ModelMessage[]) => body({ messages })['input'];

const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'secret' };
const signedThinking: AssistantBlock = {
  type: 'thinking',
  thinking: 'hm',
  thinkingSignature: JSON.stringify(reasoning),
};
const unsignedThinking: AssistantBlock = { type: 'thinking', thinking: 'hm' };
const signedText = (textSignature: string): AssistantBlock => ({ ...textBlock('Yes'), textSignature });
const message = {
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: 'Yes', annotations: [] }],
};
const call = { type: 'function_call', call_id: 'call_a', name: 'read', arguments: '{"path":"a"}' };

describe('a request body', () => {
  it('holds the whole request in equal bytes', () => {
    const request = scriptedRequest({
      model,
      systemPrompt: 'Be brief.',
      messages: [userMessage('Hello')],
      tools: [{ name: 'read', description: 'Reads', parameters: { type: 'object', properties: {} } }],
      sessionId: 's1',
      thinkingLevel: 'high',
    });

    expect(JSON.stringify(responsesBody(request))).toBe(
      JSON.stringify({
        model: 'gpt',
        instructions: 'Be brief.',
        input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
        tools: [
          {
            type: 'function',
            name: 'read',
            description: 'Reads',
            parameters: { type: 'object', properties: {} },
            strict: false,
          },
        ],
        reasoning: { effort: 'high', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        max_output_tokens: 1000,
        prompt_cache_key: 's1',
        store: false,
        stream: true,
      }),
    );
  });

  it('has no reasoning fields for a model without reasoning', () => {
    expect(body({ model: { ...model, reasoning: false } })).toEqual({
      model: 'gpt',
      input: [],
      max_output_tokens: 1000,
      store: false,
      stream: true,
    });
  });

  it.each<[Partial<ModelRequest>, object]>([
    [{ maxTokens: 200 }, { max_output_tokens: 200 }],
    [{ maxTokens: 1 }, { max_output_tokens: 16 }],
    [{ sessionId: 's'.repeat(80) }, { prompt_cache_key: 's'.repeat(64) }],
  ])('respects the limits of %j', (own, part) => {
    expect(body(own)).toMatchObject(part);
  });

  it.each<[ModelRequest['thinkingLevel'], Model['thinkingLevelMap'], unknown]>([
    ['off', undefined, undefined],
    ['off', { off: 'none' }, { effort: 'none' }],
    ['off', { off: null }, undefined],
    ['minimal', undefined, { effort: 'minimal', summary: 'auto' }],
    ['medium', { medium: 'some' }, { effort: 'some', summary: 'auto' }],
    ['xhigh', { xhigh: 'xhigh' }, { effort: 'xhigh', summary: 'auto' }],
  ])('sends the level %s with the map %j as %j', (thinkingLevel, thinkingLevelMap, expected) => {
    const { reasoning: effort, include } = body({ model: { ...model, thinkingLevelMap }, thinkingLevel });

    expect(effort).toEqual(expected);
    expect(include).toEqual(['reasoning.encrypted_content']);
  });
});

describe('images', () => {
  const imagePart = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,aW1n' };

  it('are sent with user text', () => {
    expect(input(userMessage([textBlock('Look'), image, textBlock('')]))).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'Look' }, imagePart] },
    ]);
  });

  it('are sent with results', () => {
    expect(input(toolResult('call_a|fc_a', textBlock('Here'), image))).toEqual([
      { type: 'function_call_output', call_id: 'call_a', output: [{ type: 'input_text', text: 'Here' }, imagePart] },
    ]);
  });
});

describe('an assistant message of the same model', () => {
  it('is replayed whole', () => {
    const own = assistantMessage(
      model,
      signedThinking,
      signedText('{"v":1,"id":"msg_1","phase":"commentary"}'),
      toolCall('call_a|fc_a'),
    );

    expect(input(own, toolResult('call_a|fc_a', textBlock('one'), textBlock('two')))).toEqual([
      reasoning,
      { ...message, status: 'completed', id: 'msg_1', phase: 'commentary' },
      { ...call, id: 'fc_a' },
      { type: 'function_call_output', call_id: 'call_a', output: 'one\ntwo' },
    ]);
  });

  const numbered = (part: number) => ({ ...message, status: 'completed', id: `msg_0_${part}` });

  it.each<[string, AssistantBlock[], object[]]>([
    ['a bare id', [signedText('msg_1')], [{ ...message, status: 'completed', id: 'msg_1' }]],
    ['an id that is too long', [signedText('m'.repeat(65))], [numbered(0)]],
    ['no id', [textBlock('Yes'), toolCall('call_a')], [numbered(0), call]],
    ['a long item id', [toolCall(`call_a|fc_${'x'.repeat(64)}`)], [call]],
    ['a foreign item id', [toolCall('call_a|item')], [call]],
    [
      'thinking without a signature',
      [unsignedThinking, signedText('msg_1'), toolCall('call_a|fc_a')],
      [numbered(1), call],
    ],
    ['a signature of another kind', [{ ...signedThinking, thinkingSignature: 'x' }, toolCall('call_a|fc_a')], [call]],
    ['thinking at the end', [textBlock('Yes'), signedThinking], [numbered(0)]],
    ['nothing but thinking', [signedThinking], []],
    ['an empty text', [signedThinking, textBlock(''), toolCall('call_a|fc_a')], [reasoning, { ...call, id: 'fc_a' }]],
  ])('with %s is replayed as far as possible', (_what, blocks, items) => {
    expect(input(assistantMessage(model, ...blocks))).toEqual(items);
  });
});

describe('an assistant message of another model', () => {
  it('is replayed as plain text, with an id and a status', () => {
    const foreign = assistantMessage(otherModel, unsignedThinking, signedText('sealed'), toolCall('call_a|fc_a'));

    expect(input(foreign, toolResult('call_a|fc_a'))).toEqual([
      {
        ...message,
        content: [{ type: 'output_text', text: 'hm', annotations: [] }],
        status: 'completed',
        id: 'msg_0_0',
      },
      { ...message, status: 'completed', id: 'msg_0_1' },
      call,
      { type: 'function_call_output', call_id: 'call_a', output: '(no output)' },
    ]);
  });

  it('gets ids that the API accepts', () => {
    const id = `tool:${'x'.repeat(80)}|y`;
    const plain = `tool_${'x'.repeat(59)}`;

    expect(input(assistantMessage(otherModel, toolCall(id)), toolResult(id, textBlock('ok')))).toEqual([
      { ...call, call_id: plain },
      { type: 'function_call_output', call_id: plain, output: 'ok' },
    ]);
  });
});
