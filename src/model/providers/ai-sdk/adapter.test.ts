import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProviderDouble } from '../../../../test/support/providers/provider-double.ts';
import { sdkCompletions } from '../../../../test/support/providers/sdk-completions.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { callModel } from '../../call-model.ts';
import type { StreamTimeouts } from '../../endpoint.ts';
import type { ModelRequest } from '../../request.ts';
import { callToEnd, scriptedRequest } from '../../scripted/testing/call.ts';
import { aiSdk } from './adapter.ts';

const model: Model = {
  id: 'small',
  name: 'Small',
  api: sdkCompletions.name,
  provider: 'acme',
  reasoning: true,
  input: ['text', 'image'],
  contextWindow: 10_000,
  maxTokens: 1000,
  cost: { input: 1_000_000, output: 2_000_000, cacheRead: 500_000, cacheWrite: 0 },
};
const user = { role: 'user' as const, content: 'Hello', timestamp: 1 };
const longTimeouts = { connectMs: 60_000, firstByteMs: 60_000, betweenMs: 60_000 };

/** A server, and a function that calls it through the real package. */
async function setUp(timeouts: Partial<StreamTimeouts> = {}) {
  const double = await ProviderDouble.start(sdkCompletions);
  const provider = aiSdk('@ai-sdk/openai-compatible', { agentDir: tmpdir() })({
    baseUrl: `${double.url}/v1`,
    apiKey: 'key',
    headers: { 'x-own': 'yes' },
    timeouts: { ...longTimeouts, ...timeouts },
  });
  const request = (own: Partial<ModelRequest> = {}) => scriptedRequest({ model, messages: [user], ...own });
  return { double, provider, request, respond: (own?: Partial<ModelRequest>) => callToEnd(provider, request(own)) };
}

describe('a response through the AI SDK', () => {
  it('streams thinking and text and reports its usage', async () => {
    const { double, respond } = await setUp();
    double.respondWith({ thinking: 'Let me see. ', text: 'Good day.', usage: { input: 3, output: 4, cacheRead: 2 } });

    const { events, message } = await respond();

    expect(events.map(({ type }) => type)).toEqual([
      'thinking_start',
      'thinking_delta',
      'thinking_delta',
      'thinking_delta',
      'thinking_end',
      'text_start',
      'text_delta',
      'text_delta',
      'text_end',
      'usage',
      'end',
    ]);
    expect(message).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me see. ' },
        { type: 'text', text: 'Good day.' },
      ],
      api: model.api,
      provider: 'acme',
      model: 'small',
      responseId: 'chatcmpl-1',
      responseModel: 'small-2025',
      usage: {
        input: 3,
        output: 4,
        cacheRead: 2,
        cacheWrite: 0,
        totalTokens: 9,
        reasoning: 0,
        cost: { input: 3, output: 8, cacheRead: 1, cacheWrite: 0, total: 12 },
      },
      stopReason: 'stop',
    });
  });

  it('calls several tools whose arguments arrive in pieces', async () => {
    const { double, respond } = await setUp();
    const calls = [
      { id: 'one', name: 'read', arguments: { path: 'a.txt' } },
      { id: 'two', name: 'bash', arguments: { command: 'ls' } },
    ];
    double.respondWith({ text: 'Now.', calls });

    const { events, message } = await respond();

    expect(message.content).toEqual([
      { type: 'text', text: 'Now.' },
      ...calls.map((call) => ({ type: 'toolCall', ...call })),
    ]);
    expect(events.filter(({ type }) => type === 'toolcall_delta')).toHaveLength(4);
    expect(message).toMatchObject({ stopReason: 'toolUse', rawStopReason: 'tool_calls' });
  });

  it('stops at its output limit', async () => {
    const { double, respond } = await setUp();
    double.respondWith({ text: 'Much', stop: 'length' });

    expect((await respond()).message).toMatchObject({ stopReason: 'length', content: [{ text: 'Much' }] });
  });

  it('is the same however its bytes arrive', async () => {
    const reply = { thinking: 'Hm — ', text: 'Grüße, 世界.', calls: [{ id: 'a', name: 'x', arguments: { y: 'ü' } }] };
    const { double, respond } = await setUp();
    const deliveries = [1, 2, 3, 7, 64, undefined].flatMap((pieces) =>
      (['\n', '\r\n'] as const).flatMap((lineEnd) =>
        [false, true].map((comments) => ({ ...(pieces === undefined ? {} : { pieces }), lineEnd, comments })),
      ),
    );
    const received = [];
    for (const delivery of deliveries) {
      double.respondWith({ ...reply, ...delivery });
      const { events } = await respond();
      received.push(events.filter(({ type }) => type !== 'end'));
    }

    for (const events of received) expect(events).toEqual(received[0]);
  });

  it('is requested with all options and the same bytes each time', async () => {
    const { double, respond } = await setUp();
    double.respondWith({ text: 'a' }, { text: 'b' });
    const tools = [{ name: 'read', description: 'Reads', parameters: { type: 'object', properties: {} } as const }];
    const compat = { providerOptions: { acme: { user: 'me' }, high: { acme: { reasoningEffort: 'high' } } } };
    const own = { systemPrompt: 'Be good', tools, maxTokens: 50, thinkingLevel: 'high' as const };

    await respond({ ...own, model: { ...model, compat } });
    await respond({ ...own, model: { ...model, compat } });

    const [first, second] = double.requests;
    expect(first?.path).toBe('/v1/chat/completions');
    expect(first?.headers).toMatchObject({ authorization: 'Bearer key', 'x-own': 'yes' });
    expect(first?.body).toEqual({
      model: 'small',
      user: 'me',
      max_tokens: 50,
      reasoning_effort: 'high',
      messages: [
        { role: 'system', content: 'Be good' },
        { role: 'user', content: 'Hello' },
      ],
      tools: [{ type: 'function', function: { name: 'read', description: 'Reads', parameters: tools[0]?.parameters } }],
      tool_choice: 'auto',
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(second?.text).toBe(first?.text);
  });
});

describe('an abort', () => {
  it('disconnects the client from the server', async () => {
    const { double, provider, request } = await setUp();
    double.respondWith({ text: 'one two three', stallAfter: 2 });
    const controller = new AbortController();

    let last: unknown;
    for await (const event of callModel(provider, request({ signal: controller.signal })).events) {
      if (event.type === 'text_delta') controller.abort();
      last = event;
    }

    await (await double.request(0)).closed;
    expect(last).toMatchObject({ message: { stopReason: 'aborted', content: [{ text: 'one ' }] } });
  });

  it('by the consumer alone does so, too', async () => {
    const { double, provider, request } = await setUp();
    double.respondWith({ text: 'one two three', stallAfter: 2 });

    for await (const { type } of callModel(provider, request()).events) if (type === 'text_delta') break;

    await (await double.request(0)).closed;
    expect(double.requests).toHaveLength(1);
  });
});

describe('a failure through the AI SDK', () => {
  it.each([
    [{ status: 400, message: 'No such field' }, 'model_error', '400 No such field (invalid_request_error)'],
    [{ status: 401, message: 'Wrong key' }, 'auth_failed', '401 Wrong key (invalid_request_error)'],
    [{ status: 429, message: 'Slowly' }, 'rate_limited', '429 Slowly (rate_limit_error)'],
    [{ status: 500, message: 'Oh' }, 'model_error', '500 Oh (invalid_request_error)'],
    [{ status: 503, body: '<html>Busy</html>' }, 'overloaded', '503 Service Unavailable'],
    [{ status: 400, message: 'The prompt is too long' }, 'context_overflow', '400 The prompt is too long'],
  ])('is reported: %j', async (refusal, code, messageText) => {
    const { double, respond } = await setUp();
    double.respondWith(refusal);

    const { message, failure } = await respond();

    expect(message).toMatchObject({ stopReason: 'error', errorCode: code });
    expect(message.errorMessage).toContain(messageText);
    expect(failure?.status).toBe(refusal.status);
  });

  it('has the retry delay of the server', async () => {
    const { double, respond } = await setUp();
    double.respondWith({ status: 429, message: 'Slowly', headers: { 'retry-after': '7' } });

    expect((await respond()).failure?.retryAfterMs).toBe(7000);
  });

  it('causes no second request', async () => {
    const { double, respond } = await setUp();
    double.respondWith({ status: 500 }, { text: 'a' });

    await respond();

    expect(double.requests).toHaveLength(1);
  });

  it('in mid-stream keeps the content so far', async () => {
    const { double, respond } = await setUp();
    double.respondWith({ text: 'Half', error: { type: 'overloaded_error', message: 'Overloaded' } });

    expect((await respond()).message).toMatchObject({
      content: [{ text: 'Half' }],
      stopReason: 'error',
      errorCode: 'overloaded',
      errorMessage: 'Overloaded (overloaded_error)',
    });
  });

  it.each([
    ['cut', { text: 'one two', cutAfter: 2 }, 'connection_lost', 'Connection error'],
    [
      'a page',
      { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } },
      'model_error',
      'a page: <html>',
    ],
    ['garbage', { status: 200, body: 'data: {"choices\n\n' }, 'model_error', '{"choices'],
  ])('is %s', async (_what, turn, errorCode, messageText) => {
    const { double, respond } = await setUp();
    double.respondWith(turn);

    const { message } = await respond();

    expect(message).toMatchObject({ stopReason: 'error', errorCode });
    expect(message.errorMessage).toContain(messageText);
  });

  it('follows an end without a reason', async () => {
    const { double, respond } = await setUp();
    const chunk = JSON.stringify({ choices: [{ index: 0, delta: { content: 'Half' } }] });
    double.respondWith({ status: 200, body: `data: ${chunk}\n\ndata: [DONE]\n\n` });

    expect((await respond()).message).toMatchObject({
      content: [{ text: 'Half' }],
      errorCode: 'connection_lost',
      errorMessage: 'The stream ended before the answer did',
    });
  });

  it('follows a server that is not running', async () => {
    const { double, respond } = await setUp();
    double.close();

    const { message } = await respond();

    expect(message.errorCode).toBe('connection_lost');
    expect(message.errorMessage).toContain('ECONNREFUSED');
  });

  it.each([
    ['before its first byte', { firstByteMs: 50 }, 0, 'did not begin to answer'],
    ['in the middle', { betweenMs: 50 }, 2, 'stopped in the middle'],
  ])('follows a stall %s', async (_when, timeouts, stallAfter, messageText) => {
    const { double, respond } = await setUp(timeouts);
    double.respondWith({ text: 'one two', stallAfter });

    const { message } = await respond();

    expect(message.errorCode).toBe('stalled');
    expect(message.errorMessage).toContain(messageText);
    await double.requests[0]?.closed;
  });
});

/** A package that consists of this code. */
function handMade(code: string, timeouts: Partial<StreamTimeouts> = {}) {
  const agentDir = mkdtempSync(join(tmpdir(), 'agent-'));
  const folder = join(agentDir, 'node_modules', 'hand-made');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"name":"hand-made","type":"module","exports":"./main.js"}');
  writeFileSync(join(folder, 'main.js'), code);
  const adapter = aiSdk('hand-made', { agentDir });
  return adapter({ baseUrl: '', apiKey: undefined, headers: {}, timeouts: { ...longTimeouts, ...timeouts } });
}

const withStream = (doStream: string) => `
  const model = { specificationVersion: 'v2', doStream: ${doStream} };
  export const createHandMade = () => () => model;`;

describe('a hand-made package', () => {
  it('works with the older version of the AI SDK, and gets its signatures back', async () => {
    const provider = handMade(
      withStream(`async ({ prompt }) => ({
        stream: ReadableStream.from([
          { type: 'text-delta', id: '1', delta: JSON.stringify(prompt), providerMetadata: { made: { by: 'hand' } } },
          { type: 'finish', finishReason: 'stop', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
        ]),
      })`),
    );
    const first = await callToEnd(provider, scriptedRequest({ model, messages: [user] }));
    const own = { ...first.message, timestamp: 2 };
    const second = await callToEnd(provider, scriptedRequest({ model, messages: [user, own, user] }));

    const [block] = second.message.content;
    expect(JSON.parse(block?.type === 'text' ? block.text : '')).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'text', providerOptions: { made: { by: 'hand' } } }] },
      { role: 'user' },
    ]);
    expect(second.message.usage).toMatchObject({ input: 1, output: 2 });
  });

  it('may fail after a complete response', async () => {
    const provider = handMade(
      withStream(`async () => ({
        stream: ReadableStream.from((async function* () {
          yield { type: 'text-delta', id: '1', delta: 'All' };
          yield { type: 'finish', finishReason: 'stop', usage: {} };
          throw new Error('Too late');
        })()),
      })`),
    );

    expect((await callToEnd(provider, scriptedRequest({ model }))).message).toMatchObject({
      stopReason: 'stop',
      content: [{ text: 'All' }],
    });
  });

  it.each([
    ['never begins', '() => new Promise(() => {})'],
    ['never emits a part', 'async () => ({ stream: new ReadableStream() })'],
    [
      'only warns',
      "async () => ({ stream: new ReadableStream({ start: (c) => c.enqueue({ type: 'stream-start' }) }) })",
    ],
  ])('that %s and ignores the signal is abandoned', async (_what, doStream) => {
    const { message } = await callToEnd(
      handMade(withStream(doStream), { firstByteMs: 20 }),
      scriptedRequest({ model }),
    );

    expect(message).toMatchObject({ errorCode: 'stalled', errorMessage: expect.stringContaining('did not begin') });
  });

  it.each([
    ['ends too early', withStream('async () => ({ stream: ReadableStream.from([]) })'), 'connection_lost'],
    ['throws', withStream("() => { throw new Error('Too many requests') }"), 'rate_limited'],
    ['throws when it is set up', "export const createIt = () => { throw new Error('No') };", 'model_error'],
    ['has a malformed stream', withStream('async () => ({})'), 'model_error'],
    ['emits malformed parts', withStream('async () => ({ stream: ReadableStream.from([null]) })'), 'model_error'],
  ])('that %s yields a failed response', async (_what, code, errorCode) => {
    const { message } = await callToEnd(handMade(code), scriptedRequest({ model }));

    expect(message).toMatchObject({ stopReason: 'error', errorCode });
  });
});
