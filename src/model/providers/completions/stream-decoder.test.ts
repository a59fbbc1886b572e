import { describe, expect, it } from 'vitest';
import { chunk, completions } from '../../../../test/support/providers/completions.ts';
import { ProviderDouble, type SentEvent } from '../../../../test/support/providers/provider-double.ts';
import { callToEnd } from '../../scripted/testing/call.ts';
import { openaiCompletions } from './adapter.ts';
import { sampleEndpoint, sampleRequest } from './testing/sample.ts';

/** Decodes exactly these events from a server. */
async function decodeEvents(...events: readonly SentEvent[]) {
  const double = await ProviderDouble.start({ ...completions, encode: () => events });
  double.respondWith({});
  return callToEnd(openaiCompletions(sampleEndpoint({ baseUrl: double.url })), sampleRequest());
}

const delta = (fields: object) => chunk({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
const finish = (reason: string, fields: object = {}) =>
  chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason, ...fields }] });
const calls = (...parts: readonly object[]) => delta({ tool_calls: parts });
const done = { data: '[DONE]' };

const called = (id: string, path: string) => ({ type: 'toolCall', id, name: 'read', arguments: { path } });
const a = { name: 'read', arguments: '{"path":"a"}' };
const b = { name: 'read', arguments: '{"path":"b"}' };

describe('tool calls', () => {
  it.each<[string, readonly SentEvent[]]>([
    [
      'whole, one after another',
      [calls({ index: 0, id: 'c1', function: a }), calls({ index: 1, id: 'c2', function: b })],
    ],
    ['whole, in one delta', [calls({ index: 0, id: 'c1', function: a }, { index: 1, id: 'c2', function: b })]],
    ['without numbers', [calls({ id: 'c1', function: a }, { id: 'c2', function: b })]],
    [
      'all with the same number',
      [calls({ index: 0, id: 'c1', function: a }), calls({ index: 0, id: 'c2', function: b })],
    ],
    [
      'with arguments that are no string',
      [
        calls({ index: 0, id: 'c1', function: { name: 'read', arguments: { path: 'a' } } }),
        calls({ index: 1, id: 'c2', function: { name: 'read', arguments: { path: 'b' } } }),
      ],
    ],
    [
      'interleaved',
      [
        calls({ index: 0, id: 'c1', function: { name: 'read', arguments: '' } }),
        calls({ index: 1, id: 'c2', function: { name: 'read', arguments: '' } }),
        calls({ index: 0, function: { arguments: '{"path"' } }, { index: 1, function: { arguments: '{"path":' } }),
        calls({ index: 1, function: { arguments: '"b"}' } }),
        calls({ index: 0, function: { arguments: ':"a"}' } }),
      ],
    ],
    [
      'with ids and names again and again',
      [
        calls({ index: 0, id: 'c1', function: { name: 'read', arguments: '{"path":' } }),
        calls({ index: 0, id: 'c1', function: { name: 'read', arguments: '"a"}' } }),
        calls({ index: 1, id: 'c2', function: { name: 'read', arguments: '{"path":' } }),
        calls({ index: 1, id: 'c2', function: { name: 'read', arguments: '"b"}' } }),
      ],
    ],
    [
      'with a new id in every delta',
      [
        calls({ index: 0, id: 'c1', function: { name: 'read' } }),
        calls({ index: 0, id: 'x1', function: { arguments: '{"path":"a"}' } }),
        calls({ index: 1, id: 'c2', function: { name: 'read' } }),
        calls({ index: 1, id: 'x2', function: { name: '', arguments: '{"path":"b"}' } }),
      ],
    ],
    [
      'with the name again, and no id',
      [
        calls({ index: 0, id: 'c1', function: { name: 'read', arguments: '{"path":"a"}' } }),
        calls({ index: 0, id: '', function: { name: 'read', arguments: '' } }),
        calls({ index: 1, id: 'c2', function: { name: 'read', arguments: '{"path":' } }),
        calls({ index: 1, function: { name: 'read', arguments: '"b"}' } }),
      ],
    ],
    [
      'without numbers, in pieces',
      [
        calls({ id: 'c1', function: { name: 'read', arguments: '{"path"' } }),
        calls({ function: { arguments: ':"a"}' } }),
        calls({ id: 'c2', function: { name: 'read', arguments: '{"path"' } }),
        calls({ id: 'c2', function: { arguments: ':"b"}' } }),
      ],
    ],
    [
      'with a late name',
      [
        calls({ index: 0, id: 'c1', function: {} }),
        calls({ index: 0, function: { name: 'read', arguments: '{"path":"a"}' } }),
        calls({ index: 1, id: 'c2', function: b }),
      ],
    ],
  ])('may come %s', async (_how, events) => {
    const { message } = await decodeEvents(...events, finish('tool_calls'), done);

    expect(message).toMatchObject({ content: [called('c1', 'a'), called('c2', 'b')], stopReason: 'toolUse' });
  });

  it.each<[string, readonly SentEvent[]]>([
    ['none', [calls({ function: a }, { function: b })]],
    [
      'none, in pieces',
      [
        calls({ function: { name: 'read', arguments: '{"path"' } }),
        calls({ function: { name: 'read', arguments: ':"a"}' } }),
        calls({ function: { name: 'read', arguments: '{"path":"b"}' } }),
      ],
    ],
    ['none, and one number', [calls({ index: 0, function: a }), calls({ index: 0, function: b })]],
    [
      'one of them too late',
      [
        calls({ index: 0, function: { name: 'read' } }),
        calls({ index: 0, id: 'c1', function: a }),
        calls({ index: 1, id: 'c2', function: b }),
      ],
    ],
    ['empty ones', [calls({ index: 0, id: '', function: a }, { index: 1, id: null, function: b })]],
    ['the same twice', [calls({ index: 0, id: 'c', function: a }, { index: 1, id: 'c', function: b })]],
  ])('get generated ids if the server sent %s', async (_which, events) => {
    const { message } = await decodeEvents(...events, finish('tool_calls'), done);
    const toolCalls = message.content.flatMap((block) => (block.type === 'toolCall' ? [block] : []));

    expect(toolCalls.map(({ arguments: values }) => values)).toEqual([{ path: 'a' }, { path: 'b' }]);
    expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(2);
    expect(toolCalls.every(({ id }) => id !== '')).toBe(true);
  });

  it('are separated by the real end of their arguments', async () => {
    const odd = '{"path":"a}\\"}{"}';
    const { message } = await decodeEvents(
      ...[...odd].map((piece, at) =>
        calls({ index: 0, ...(at === 0 && { id: 'c1' }), function: { name: 'read', arguments: piece } }),
      ),
      finish('tool_calls'),
      done,
    );

    expect(message.content).toEqual([called('c1', 'a}"}{')]);
  });

  it('without arguments have none', async () => {
    const { message } = await decodeEvents(
      calls({ index: 0, id: 'c1', function: { name: 'ls' } }),
      finish('tool_calls'),
      done,
    );

    expect(message.content).toEqual([{ type: 'toolCall', id: 'c1', name: 'ls', arguments: {} }]);
  });

  it('without a name are dropped', async () => {
    const { message } = await decodeEvents(calls({ index: 0, id: 'c1' }), finish('tool_calls'), done);

    expect(message).toMatchObject({ content: [], stopReason: 'stop' });
  });

  it('continue after text in between', async () => {
    const { message } = await decodeEvents(
      calls({ index: 0, id: 'c1', function: { name: 'read', arguments: '{"path":' } }),
      delta({ content: 'Wait.' }),
      calls({ index: 0, function: { arguments: '"a"}' } }),
      finish('tool_calls'),
      done,
    );

    expect(message.content).toEqual([called('c1', 'a'), { type: 'text', text: 'Wait.' }]);
  });

  it('keep the extra content that the server needs back', async () => {
    const extra = { google: { thought_signature: 'abc' } };
    const { message } = await decodeEvents(
      calls({ index: 0, id: 'c1', function: a, extra_content: extra }),
      finish('stop'),
      done,
    );

    expect(message.content).toEqual([{ ...called('c1', 'a'), thoughtSignature: JSON.stringify(extra) }]);
  });
});

describe('thinking', () => {
  it.each(['reasoning_content', 'reasoning', 'reasoning_text'])('may come as %s', async (field) => {
    const { message } = await decodeEvents(
      delta({ [field]: 'h' }),
      delta({ [field]: 'm', content: '' }),
      finish('stop'),
      done,
    );

    expect(message.content).toEqual([{ type: 'thinking', thinking: 'hm', thinkingSignature: field }]);
  });

  it('that arrives in two fields is read once', async () => {
    const { message } = await decodeEvents(delta({ reasoning: 'hm', reasoning_content: 'hm' }), finish('stop'), done);

    expect(message.content).toMatchObject([{ thinking: 'hm', thinkingSignature: 'reasoning_content' }]);
  });

  it('may come as parts of the content', async () => {
    const thinking = [{ type: 'text', text: 'hm' }];
    const { message } = await decodeEvents(
      delta({ content: [{ type: 'thinking', thinking }] }),
      delta({ content: [{ type: 'text', text: 'yes' }] }),
      finish('stop'),
      done,
    );

    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'yes' },
    ]);
  });

  it('with signed details keeps them joined', async () => {
    const details = (...parts: readonly object[]) => ({ reasoning_details: parts });
    const plain = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 };
    const encrypted = { type: 'reasoning.encrypted', data: 'xyz', id: 'c1', index: 1 };
    const { message } = await decodeEvents(
      delta({ reasoning: 'h', ...details({ ...plain, text: 'h' }) }),
      delta({ reasoning: 'm', ...details({ ...plain, text: 'm', signature: null }) }),
      delta(details({ ...plain, signature: 'sig' })),
      delta({ tool_calls: [{ index: 0, id: 'c1', function: a }], ...details(encrypted) }),
      finish('tool_calls'),
      done,
    );

    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'hm', thinkingSignature: 'reasoning' },
      called('c1', 'a'),
      {
        type: 'thinking',
        thinking: '',
        thinkingSignature: JSON.stringify([{ ...plain, text: 'hm', signature: 'sig' }, encrypted]),
        redacted: true,
      },
    ]);
  });

  it('with unsigned details keeps none', async () => {
    const parts = [{ type: 'reasoning.text', text: 'hm', index: 0 }];
    const { message } = await decodeEvents(delta({ reasoning: 'hm', reasoning_details: parts }), finish('stop'), done);

    expect(message.content).toHaveLength(1);
  });
});

describe('the usage', () => {
  const tokens = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

  it.each<[string, readonly SentEvent[]]>([
    ['behind the last choice', [finish('stop'), chunk({ choices: [], usage: tokens })]],
    ['with the last choice', [chunk({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: tokens })]],
    ['inside the choice', [finish('stop', { usage: tokens })]],
    [
      'with every chunk',
      [
        chunk({ choices: [{ delta: { content: 'x' } }], usage: { ...tokens, completion_tokens: 1 } }),
        chunk({ choices: [{ delta: { content: 'y' } }], usage: tokens }),
        chunk({ choices: [{ delta: {}, finish_reason: 'stop' }], usage: tokens }),
      ],
    ],
  ])('may come %s', async (_where, events) => {
    const { message } = await decodeEvents(...events, done);

    expect(message.usage).toMatchObject({ input: 100, output: 20, totalTokens: 120 });
  });

  it.each<[string, object, object]>([
    ['cached tokens', { prompt_tokens_details: { cached_tokens: 30 } }, { input: 70, cacheRead: 30 }],
    ['cache hits', { prompt_cache_hit_tokens: 30, prompt_cache_miss_tokens: 70 }, { input: 70, cacheRead: 30 }],
    ['cached tokens at the top', { cached_tokens: 30 }, { input: 70, cacheRead: 30 }],
    [
      'what was cached anew',
      { prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 50 } },
      { input: 20, cacheRead: 30, cacheWrite: 50 },
    ],
    ['thinking in the output', { completion_tokens_details: { reasoning_tokens: 5 } }, { output: 20, reasoning: 5 }],
    [
      'thinking beside the output',
      { total_tokens: 125, completion_tokens_details: { reasoning_tokens: 5 } },
      { output: 25, reasoning: 5 },
    ],
    ['nonsense', { prompt_tokens_details: { cached_tokens: 'many' } }, { input: 100, cacheRead: 0 }],
  ])('counts %s', async (_what, own, expected) => {
    const { message } = await decodeEvents(finish('stop'), chunk({ choices: [], usage: { ...tokens, ...own } }), done);

    expect(message.usage).toMatchObject(expected);
  });

  it('is published when it changes, and kept if the stream is interrupted', async () => {
    const { events, message } = await decodeEvents(
      chunk({ choices: [], usage: tokens }),
      chunk({ choices: [], usage: tokens }),
      chunk({ choices: [], usage: null }),
    );

    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(1);
    expect(message).toMatchObject({ errorCode: 'connection_lost', usage: { input: 100, output: 20 } });
  });
});

describe('the end', () => {
  it.each([
    ['stop', { stopReason: 'stop' }],
    ['end', { stopReason: 'stop', rawStopReason: 'end' }],
    ['length', { stopReason: 'length' }],
    ['something new', { stopReason: 'stop', rawStopReason: 'something new' }],
    ['content_filter', { stopReason: 'error', errorCode: 'model_error', rawStopReason: 'content_filter' }],
    ['network_error', { stopReason: 'error', errorCode: 'connection_lost' }],
    ['model_context_window_exceeded', { stopReason: 'error', errorCode: 'context_overflow' }],
  ])('for the reason %s', async (reason, expected) => {
    const { message } = await decodeEvents(delta({ content: 'x' }), finish(reason), done);

    expect(message).toMatchObject({ ...expected, content: [{ text: 'x' }] });
  });

  it.each([
    ['the finish reason alone', [finish('stop')]],
    ['the end marker alone', [done]],
  ])('is known by %s', async (_what, ending) => {
    const { message } = await decodeEvents(delta({ content: 'x' }), ...ending);

    expect(message).toMatchObject({ stopReason: 'stop' });
  });

  it('that is missing is a lost connection', async () => {
    const { failure } = await decodeEvents(delta({ content: 'x' }));

    expect(failure).toMatchObject({ code: 'connection_lost', message: 'The stream ended before the answer did' });
  });
});

describe('an error in mid-stream', () => {
  it.each<[SentEvent, string, string]>([
    [{ data: '{"error":{"message":"Busy","code":503}}' }, 'overloaded', 'Busy'],
    [{ data: '{"error":{"message":"Slow","code":"429"}}' }, 'rate_limited', 'Slow (429)'],
    [{ data: '{"error":"It broke"}' }, 'model_error', 'It broke'],
    [{ data: '{"object":"error","message":"No","type":"BadRequest"}' }, 'model_error', 'No (BadRequest)'],
    [{ event: 'error', data: '{"message":"Gone"}' }, 'model_error', 'Gone'],
    [{ data: 'what?' }, 'model_error', 'Expected a JSON object in the stream, got: what?'],
    [{ data: '17' }, 'model_error', 'Expected a JSON object in the stream, got: 17'],
  ])('%j', async (event, code, messageText) => {
    const { message } = await decodeEvents(delta({ content: 'x' }), event);

    expect(message).toMatchObject({ errorCode: code, errorMessage: messageText, content: [{ text: 'x' }] });
  });

  it.each(['{}', '{"choices":null}', '{"choices":[null]}', '{"choices":[{}]}', '{"error":null}', '[]'])(
    'does not follow %s',
    async (data) => {
      const { message } = await decodeEvents({ data }, delta({ content: 'x' }), finish('stop'), done);

      expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'x' }] });
    },
  );

  it.each([{ content: 5 }, { content: [null] }, { tool_calls: [null] }, { tool_calls: 1 }, { reasoning_details: [1] }])(
    'does not follow %j',
    async (fields) => {
      const { message } = await decodeEvents(delta(fields), delta({ content: 'x' }), finish('stop'), done);

      expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'x' }] });
    },
  );
});
