import { describe, expect, it } from 'vitest';
import type { Model, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { ModelMessage } from '../../request.ts';
import {
  assistant,
  bodyOf,
  call,
  image,
  readTool,
  result,
  sampleModel,
  sampleRequest,
  text,
  user,
} from './testing/sample.ts';

const encode = (messages: readonly ModelMessage[], own: Partial<Model> = {}) =>
  bodyOf(sampleRequest({ model: sampleModel(own), systemPrompt: '', messages })).messages;

const unknown = { provider: 'nobody', baseUrl: 'https://models.example/v1' };
const foreign = { api: 'anthropic-messages', provider: 'anthropic', model: 'claude' };

describe('a request', () => {
  it('to OpenAI has all its fields', () => {
    expect(bodyOf(sampleRequest({ tools: [readTool], sessionId: 'session-1' }))).toEqual({
      model: 'gpt-test',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      store: false,
      max_completion_tokens: 8000,
      tools: [
        {
          type: 'function',
          function: {
            name: 'read',
            description: 'Reads a file.',
            parameters: { type: 'object', properties: { path: { type: 'string' } } },
            strict: false,
          },
        },
      ],
      reasoning_effort: 'medium',
      prompt_cache_key: 'session-1',
    });
  });

  it('to an unknown server has few fields', () => {
    expect(bodyOf(sampleRequest({ model: sampleModel(unknown), sessionId: 'session-1' }))).toEqual({
      model: 'gpt-test',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 8000,
      reasoning_effort: 'medium',
    });
  });

  it('has equal bytes each time', () => {
    const request = sampleRequest({
      tools: [readTool],
      messages: [user('x'), assistant([call('a|b')], foreign), result('a|b', [text('y')])],
    });

    expect(JSON.stringify(bodyOf(request))).toBe(JSON.stringify(bodyOf(request)));
  });

  it('names the providers that a gateway may use', () => {
    const compat = { openRouterRouting: { order: ['a'] }, vercelGatewayRouting: { only: ['b'] } };

    expect(bodyOf(sampleRequest({ model: sampleModel({ compat }) }))).toMatchObject({
      provider: { order: ['a'] },
      providerOptions: { gateway: { only: ['b'] } },
    });
  });
});

describe('tools', () => {
  it('are omitted if there are none', () => {
    expect(bodyOf(sampleRequest())).not.toHaveProperty('tools');
  });

  const history = [
    user('x'),
    assistant([call('c1'), call('c2')]),
    result('c1', [text('1')]),
    result('c2', [text('2')]),
  ];

  it('of past calls are declared but may not be called', () => {
    expect(bodyOf(sampleRequest({ messages: history }))).toMatchObject({
      tools: [{ type: 'function', function: { name: 'read', parameters: { type: 'object', properties: {} } } }],
      tool_choice: 'none',
    });
  });

  it('are not declared to a model without tools', () => {
    expect(
      bodyOf(sampleRequest({ messages: history, model: sampleModel({ supportsTools: false }) })),
    ).not.toHaveProperty('tools');
  });
});

describe('the output limit', () => {
  it.each([
    ['is the limit of the model', {}, undefined, 8000],
    ['is the requested limit', {}, 100, 100],
    ['is never above the limit of the model', {}, 9000, 8000],
    ['is what the context leaves', { contextWindow: 10_000 }, undefined, 10_000 - 5003],
    ['is not squeezed to nothing', { contextWindow: 6000 }, undefined, 4096],
    ['is not bound by a context of unknown size', { contextWindow: 0 }, undefined, 8000],
  ])('%s', (_what, own, maxTokens, expected) => {
    const messages = [user('x'.repeat(20_000))];
    const request = sampleRequest({ model: sampleModel(own), messages, ...(maxTokens !== undefined && { maxTokens }) });

    expect(bodyOf(request).max_completion_tokens).toBe(expected);
  });

  it('is omitted if it is unknown', () => {
    expect(bodyOf(sampleRequest({ model: sampleModel({ maxTokens: 0 }) }))).not.toHaveProperty('max_completion_tokens');
  });
});

describe('the thinking level', () => {
  const fields = [
    'reasoning_effort',
    'reasoning',
    'thinking',
    'enable_thinking',
    'thinking_budget',
    'chat_template_kwargs',
  ];
  const thinkingOf = (thinkingLevel: ThinkingLevel, own: Partial<Model>) => {
    const request = sampleRequest({ model: sampleModel(own), thinkingLevel, thinkingBudgets: { low: 700 } });
    return Object.fromEntries(Object.entries(bodyOf(request)).filter(([name]) => fields.includes(name)));
  };
  const format = (thinkingFormat: string) => ({ ...unknown, compat: { thinkingFormat } });

  it.each<[string, Partial<Model>, object, object]>([
    ['openai', {}, {}, { reasoning_effort: 'low' }],
    ['a model without reasoning', { reasoning: false }, {}, {}],
    [
      'a name for off',
      { thinkingLevelMap: { off: 'none' } },
      { reasoning_effort: 'none' },
      { reasoning_effort: 'low' },
    ],
    [
      'a missing level',
      { thinkingLevelMap: { off: null } },
      { reasoning_effort: 'minimal' },
      { reasoning_effort: 'low' },
    ],
    ['a model level name', { thinkingLevelMap: { low: 'tiny' } }, {}, { reasoning_effort: 'tiny' }],
    ['a server level name', { compat: { reasoningEffortMap: { low: 'tiny' } } }, {}, { reasoning_effort: 'tiny' }],
    ['no level name', { compat: { supportsReasoningEffort: false } }, {}, {}],
    ['openrouter', format('openrouter'), { reasoning: { effort: 'none' } }, { reasoning: { effort: 'low' } }],
    [
      'deepseek',
      format('deepseek'),
      { thinking: { type: 'disabled' } },
      { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
    ],
    ['zai', format('zai'), { thinking: { type: 'disabled' } }, { thinking: { type: 'enabled' } }],
    ['qwen', format('qwen'), { enable_thinking: false }, { enable_thinking: true, thinking_budget: 700 }],
    [
      'qwen-chat-template',
      format('qwen-chat-template'),
      { chat_template_kwargs: { enable_thinking: false } },
      { chat_template_kwargs: { enable_thinking: true } },
    ],
    [
      'together',
      format('together'),
      { reasoning: { enabled: false } },
      { reasoning: { enabled: true }, reasoning_effort: 'low' },
    ],
  ])('for %s', (_name, own, off, low) => {
    expect(thinkingOf('off', own)).toEqual(off);
    expect(thinkingOf('low', own)).toEqual(low);
  });

  it('goes no further than the model', () => {
    expect(thinkingOf('xhigh', {})).toEqual({ reasoning_effort: 'high' });
    expect(thinkingOf('xhigh', { thinkingLevelMap: { xhigh: 'xhigh' } })).toEqual({ reasoning_effort: 'xhigh' });
  });
});

describe('the conversation', () => {
  it('has text as strings and images as parts', () => {
    expect(encode([user([text('a'), text('b')]), user([text('look'), image, text(' ')])])).toEqual([
      { role: 'user', content: 'a\nb' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      },
    ]);
  });

  it('has no empty messages', () => {
    expect(encode([user(''), user([text('  ')]), assistant([text('')]), user('x')])).toEqual([
      { role: 'user', content: 'x' },
    ]);
  });

  it('has calls and their results', () => {
    const history = [
      assistant([text('Let me see.'), call('c1'), call('c2')]),
      result('c1', [text('1'), text('2')]),
      result('c2', []),
    ];

    expect(encode(history)).toEqual([
      {
        role: 'assistant',
        content: 'Let me see.',
        tool_calls: ['c1', 'c2'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'read', arguments: '{"path":"a.txt"}' },
        })),
      },
      { role: 'tool', content: '1\n2', tool_call_id: 'c1' },
      { role: 'tool', content: '(no output)', tool_call_id: 'c2' },
    ]);
  });

  const messages = [
    assistant([call('c1'), call('c2')]),
    result('c1', [image]),
    result('c2', [text('2'), image]),
    user('go on'),
  ];

  it('has the images of tools after all their results', () => {
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };

    expect(encode(messages).slice(1)).toEqual([
      { role: 'tool', content: '(see attached image)', tool_call_id: 'c1' },
      { role: 'tool', content: '2', tool_call_id: 'c2' },
      { role: 'user', content: [{ type: 'text', text: 'Attached image(s) from tool result:' }, url, url] },
      { role: 'user', content: 'go on' },
    ]);
  });

  it('replaces images by text for a model without image input', () => {
    expect(JSON.stringify(encode(messages, { input: ['text'] }))).not.toContain('image_url');
  });

  it('has an assistant message between tools and users, and tool names, if the server requires them', () => {
    const compat = { requiresAssistantAfterToolResult: true, requiresToolResultName: true };
    const encoded = encode([assistant([call('c1')]), result('c1', [image]), user('go on')], { compat });

    expect(encoded.map(({ role }: { role: string }) => role)).toEqual([
      'assistant',
      'tool',
      'assistant',
      'user',
      'user',
    ]);
    expect(encoded[1].name).toBe('read');
  });

  it('rewrites foreign ids for this API and keeps them distinct', () => {
    const ids = [`call_1|${'x'.repeat(60)}`, 'call_1|other', 'a+b/c=', 'y'.repeat(50), `${'y'.repeat(50)}z`];
    const history = [
      assistant(
        ids.map((id) => call(id)),
        foreign,
      ),
      ...ids.map((id) => result(id, [text('1')])),
    ];
    const [encoded, ...results] = encode(history);
    const encodedIds = encoded.tool_calls.map(({ id }: { id: string }) => id);

    expect(encodedIds[0]).toBe('call_1');
    expect(encodedIds[2]).toBe('a_b_c_');
    expect(new Set(encodedIds).size).toBe(ids.length);
    for (const id of encodedIds) expect(id).toMatch(/^[\w-]{1,40}$/);
    expect(results.map(({ tool_call_id }: { tool_call_id: string }) => tool_call_id)).toEqual(encodedIds);
  });

  it('rewrites foreign ids to nine letters for Mistral', () => {
    const history = [assistant([call('toolu_1'), call('toolu_2')], foreign)];
    const [first, second] = encode(history, { provider: 'mistral' })[0].tool_calls;

    expect(first.id).toMatch(/^[a-z0-9]{9}$/);
    expect(second.id).not.toBe(first.id);
  });
});

describe('past thinking', () => {
  const thought = (thinkingSignature: string) => ({ type: 'thinking' as const, thinking: 'hm', thinkingSignature });

  it.each(['reasoning_content', 'reasoning', 'reasoning_text'])('is replayed as %s if it came so', (field) => {
    expect(encode([assistant([thought(field), text('yes')])])).toEqual([
      { role: 'assistant', content: 'yes', [field]: 'hm' },
    ]);
  });

  it('with a signature of another kind is omitted', () => {
    expect(encode([assistant([thought('x'), text('yes')])])).toEqual([{ role: 'assistant', content: 'yes' }]);
  });

  it('alone is no message', () => {
    expect(encode([assistant([thought('reasoning')])])).toEqual([]);
  });

  it('of other models is text', () => {
    expect(encode([assistant([thought('sig'), text('yes')], foreign)])).toEqual([
      { role: 'assistant', content: 'hm\n\nyes' },
    ]);
  });

  it('is text for a server that requires that', () => {
    const compat = { requiresThinkingAsText: true };

    expect(encode([assistant([thought('reasoning'), text('yes')])], { compat })).toEqual([
      { role: 'assistant', content: 'hm\n\nyes' },
    ]);
  });

  it('with signed details is replayed unchanged', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'xyz', index: 0 }];
    const signed = {
      type: 'thinking' as const,
      thinking: '',
      thinkingSignature: JSON.stringify(details),
      redacted: true,
    };

    expect(encode([assistant([thought('reasoning'), call('c1'), signed])])[0]).toMatchObject({
      content: null,
      reasoning_details: details,
    });
  });

  it('that is missing gets a placeholder if the server requires one', () => {
    const own = { provider: 'deepseek' };

    expect(encode([assistant([call('c1')], foreign)], own)[0]).toMatchObject({ reasoning_content: ' ' });
    expect(encode([assistant([call('c1')], foreign)], { ...own, reasoning: false })[0]).not.toHaveProperty(
      'reasoning_content',
    );
  });

  it('of calls is replayed with them', () => {
    const signature = { google: { thought_signature: 'abc' } };

    expect(
      encode([assistant([call('c1', { thoughtSignature: JSON.stringify(signature) })])])[0].tool_calls[0],
    ).toMatchObject({
      extra_content: signature,
    });
  });
});

describe('cache marks', () => {
  const own = { provider: 'openrouter', id: 'anthropic/claude-test' };
  const mark = { cache_control: { type: 'ephemeral' } };

  it('follow the system prompt, the last user message and the last result', () => {
    const request = sampleRequest({
      model: sampleModel(own),
      messages: [
        user('first'),
        assistant([text('ok')]),
        user([text('last'), image]),
        assistant([call('c1')]),
        result('c1', [text('1')]),
      ],
    });

    expect(bodyOf(request).messages).toMatchObject([
      { role: 'system', content: [{ text: 'Be brief.', ...mark }] },
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'ok' },
      { role: 'user', content: [{ text: 'last', ...mark }, { type: 'image_url' }] },
      { role: 'assistant', content: null },
      { role: 'tool', content: [{ text: '1', ...mark }] },
    ]);
  });

  it('are sent to no other model', () => {
    expect(JSON.stringify(encode([user('x')], { ...own, id: 'openai/gpt-test' }))).not.toContain('cache_control');
  });
});
