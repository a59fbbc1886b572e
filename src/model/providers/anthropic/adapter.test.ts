import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  anthropicApi,
  anthropicEvent,
  openingEvents,
  SIGNATURE,
  streamOf,
} from '../../../../test/support/providers/anthropic-messages.ts';
import { type ModelReply, ProviderDouble } from '../../../../test/support/providers/provider-double.ts';
import { callModel } from '../../call-model.ts';
import type { Endpoint } from '../../endpoint.ts';
import { callToEnd } from '../../scripted/testing/call.ts';
import { anthropicMessages } from './adapter.ts';
import { anthropicRequest, text, tool } from './testing/conversation.ts';

const double = () => ProviderDouble.start(anthropicApi);

const providerAt = (server: { url: string }, own: Partial<Endpoint> = {}) =>
  anthropicMessages({
    baseUrl: server.url,
    apiKey: 'sk-ant-api03-x',
    headers: {},
    timeouts: { connectMs: 10_000, firstByteMs: 10_000, betweenMs: 10_000 },
    ...own,
  });

const block = (content_block: object) => anthropicEvent({ type: 'content_block_start', index: 0, content_block });
const delta = (own: object) => anthropicEvent({ type: 'content_block_delta', index: 0, delta: own });
const closed = anthropicEvent({ type: 'content_block_stop', index: 0 });
const stopped = (own: object, usage: object = {}) => anthropicEvent({ type: 'message_delta', delta: own, usage });
const done = [stopped({ stop_reason: 'end_turn' }), anthropicEvent({ type: 'message_stop' })];

describe('a request', () => {
  it.each([
    ['', '/v1/messages'],
    ['/v1', '/v1/messages'],
    ['/anthropic', '/anthropic/v1/messages'],
  ])('to a base URL with the path "%s" goes to %s', async (path, expectedPath) => {
    const server = await double();
    server.respondWith({ text: 'hi' });

    await callToEnd(providerAt(server, { baseUrl: server.url + path }), anthropicRequest());

    const [request] = server.requests;
    expect(request?.path).toBe(expectedPath);
    expect(request?.body).toMatchObject({ model: 'claude-sonnet-4-5', stream: true });
    expect(request?.headers).toMatchObject({ 'x-api-key': 'sk-ant-api03-x', 'anthropic-version': '2023-06-01' });
  });

  it('has the headers of the user over those of the adapter', async () => {
    const server = await double();
    server.respondWith({ text: 'hi' });
    const headers = { 'Anthropic-Beta': 'mine', 'x-team': 'tau' };

    await callToEnd(providerAt(server, { headers }), anthropicRequest({ thinkingLevel: 'low', tools: [tool('read')] }));

    expect(server.requests[0]?.headers).toMatchObject({ 'anthropic-beta': 'mine', 'x-team': 'tau' });
  });
});

describe('a response', () => {
  it('streams thinking, text and calls', async () => {
    const server = await double();
    server.respondWith({
      thinking: 'hm, so',
      text: 'Well then',
      calls: [
        { id: 'toolu_1', name: 'read', arguments: { path: 'a' } },
        { id: 'toolu_2', name: 'read', arguments: { path: 'b', deep: { list: [1, '}'] } } },
      ],
    });

    const { events, message } = await callToEnd(providerAt(server), anthropicRequest());

    expect(message).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'hm, so', thinkingSignature: SIGNATURE },
        text('Well then'),
        { type: 'toolCall', id: 'toolu_1', name: 'read', arguments: { path: 'a' } },
        { type: 'toolCall', id: 'toolu_2', name: 'read', arguments: { path: 'b', deep: { list: [1, '}'] } } },
      ],
      stopReason: 'toolUse',
      rawStopReason: 'tool_use',
      responseId: 'msg_01',
      responseModel: 'claude-test-20260101',
    });
    const call = ['toolcall_start', 'toolcall_delta', 'toolcall_delta', 'toolcall_end'];
    expect(events.map(({ type }) => type)).toEqual([
      'usage',
      ...['thinking_start', 'thinking_delta', 'thinking_delta', 'thinking_delta', 'thinking_end'],
      ...['text_start', 'text_delta', 'text_delta', 'text_end'],
      ...call,
      ...call,
      'usage',
      'end',
    ]);
  });

  it('with several texts has several blocks, and no empty one', async () => {
    const server = await double();
    const blocks = [block(text('')), delta({ type: 'text_delta', text: 'one' }), closed];
    server.respondWith(
      streamOf(...openingEvents({}), ...blocks, block(text('')), closed, block(text('two')), closed, ...done),
    );

    expect((await callToEnd(providerAt(server), anthropicRequest())).message.content).toEqual([
      text('one'),
      text('two'),
    ]);
  });

  it('keeps hidden thinking', async () => {
    const server = await double();
    const empty = [
      block({ type: 'thinking', thinking: '', signature: '' }),
      delta({ type: 'signature_delta', signature: 'seal' }),
    ];
    const hidden = block({ type: 'redacted_thinking', data: 'secret' });
    server.respondWith(streamOf(...openingEvents({}), ...empty, closed, hidden, closed, ...done));

    expect((await callToEnd(providerAt(server), anthropicRequest())).message.content).toEqual([
      { type: 'thinking', thinking: '', thinkingSignature: 'seal' },
      { type: 'thinking', thinking: '', thinkingSignature: 'secret', redacted: true },
    ]);
  });

  it('ignores events, blocks and deltas of unknown types', async () => {
    const server = await double();
    server.respondWith(
      streamOf(
        ...openingEvents({}),
        anthropicEvent({ type: 'news', message: 'x' }),
        anthropicEvent({ type: 'content_block_delta' }),
        block({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
        delta({ type: 'input_json_delta', partial_json: '{"q":1}' }),
        closed,
        block(text('')),
        delta({ type: 'citations_delta', citation: {} }),
        delta({ type: 'text_delta', text: 'ok' }),
        closed,
        ...done,
        { event: 'done', data: '[DONE]' },
      ),
    );

    expect((await callToEnd(providerAt(server), anthropicRequest())).message).toMatchObject({
      content: [text('ok')],
      stopReason: 'stop',
    });
  });

  it('is complete even if the connection fails after it', async () => {
    const server = await double();
    const events = anthropicApi.encode({ text: 'hi' });
    server.respondWith({ text: 'hi', cutAfter: events.length }, { text: 'ho', stallAfter: events.length });
    const timeouts = { connectMs: 10_000, firstByteMs: 10_000, betweenMs: 200 };

    for (const expectedText of ['hi', 'ho']) {
      const { message } = await callToEnd(providerAt(server, { timeouts }), anthropicRequest());
      expect(message).toMatchObject({ content: [text(expectedText)], stopReason: 'stop' });
    }
  });

  it('leaves its connection for the next request', async () => {
    const ports: (number | undefined)[] = [];
    const server = createServer((request, response) => {
      ports.push(request.socket.remotePort);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(streamOf(...anthropicApi.encode({ text: 'hi' })).body);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    await callToEnd(providerAt({ url }), anthropicRequest());
    await callToEnd(providerAt({ url }), anthropicRequest());

    expect(ports).toEqual([ports[0], ports[0]]);
  });
});

describe('usage', () => {
  it('counts cached tokens, and costs the prices of the model', async () => {
    const server = await double();
    server.respondWith({ text: 'hi', usage: { input: 1000, output: 200, cacheRead: 3000, cacheWrite: 400 } });

    const { message } = await callToEnd(providerAt(server), anthropicRequest());

    const { cost, ...tokens } = message.usage;
    expect(tokens).toEqual({ input: 1000, output: 200, cacheRead: 3000, cacheWrite: 400, totalTokens: 4600 });
    expect(cost.total).toBeCloseTo((1000 * 3 + 200 * 15 + 3000 * 0.3 + 400 * 3.75) / 1e6, 12);
  });

  it('is corrected by later reports, and published when it changes', async () => {
    const server = await double();
    const more = { input_tokens: 12, cache_read_input_tokens: null, output_tokens: 7 };
    server.respondWith(
      streamOf(
        ...openingEvents({ usage: { input: 10, output: 0, cacheRead: 3 } }),
        stopped({ stop_reason: 'end_turn' }, more),
        stopped({}, more),
        anthropicEvent({ type: 'message_stop' }),
      ),
    );

    const { events } = await callToEnd(providerAt(server), anthropicRequest());

    expect(events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []))).toMatchObject([
      { input: 10, output: 1, cacheRead: 3, totalTokens: 14 },
      { input: 12, output: 7, cacheRead: 3, totalTokens: 22 },
    ]);
  });
});

describe('the end', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['tool_use', 'toolUse'],
    ['something_new', 'stop'],
  ])('%s means %s', async (stop_reason, stopReason) => {
    const server = await double();
    server.respondWith(
      streamOf(...openingEvents({}), stopped({ stop_reason }), anthropicEvent({ type: 'message_stop' })),
    );

    expect((await callToEnd(providerAt(server), anthropicRequest())).message).toMatchObject({
      stopReason,
      rawStopReason: stop_reason,
    });
  });

  it.each([
    ['refusal', { explanation: 'This could harm.' }, 'model_error', 'The model refused to answer: This could harm.'],
    ['refusal', null, 'model_error', 'The model refused to answer'],
    [
      'model_context_window_exceeded',
      undefined,
      'context_overflow',
      'The answer no longer fitted the context window of the model',
    ],
  ])('%s is a failure', async (stop_reason, stop_details, errorCode, errorMessage) => {
    const server = await double();
    const usage = { output_tokens: 9 };
    server.respondWith(
      streamOf(
        ...openingEvents({}),
        stopped({ stop_reason, stop_details }, usage),
        anthropicEvent({ type: 'message_stop' }),
      ),
    );

    expect((await callToEnd(providerAt(server), anthropicRequest())).message).toMatchObject({
      stopReason: 'error',
      rawStopReason: stop_reason,
      errorCode,
      errorMessage,
      usage: { output: 9 },
    });
  });

  it('by abort disconnects from the server', async () => {
    const server = await double();
    server.respondWith({ text: 'one two', stallAfter: 4 });
    const controller = new AbortController();

    const events = [];
    for await (const event of callModel(providerAt(server), anthropicRequest({ signal: controller.signal })).events) {
      events.push(event);
      if (event.type === 'text_delta') controller.abort();
    }

    expect(events.at(-1)).toMatchObject({ message: { stopReason: 'aborted', content: [text('one ')] } });
    await (await server.request(0)).closed;
  });
});

describe('the chunking of the bytes', () => {
  const reply: ModelReply = {
    thinking: 'hm, ünd 界',
    text: 'Well 🙂 then\r\n\ndata: x',
    calls: [{ id: 'toolu_1', name: 'read', arguments: { path: 'ü\u2028' } }],
  };
  const anyDelivery = fc.record({
    pieces: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 700 })),
    lineEnd: fc.constantFrom<'\n' | '\r\n'>('\n', '\r\n'),
    comments: fc.boolean(),
  });

  it('does not change the response', async () => {
    const server = await double();
    server.respondWith(reply);
    const { events: expected } = await callToEnd(providerAt(server), anthropicRequest());

    await fc.assert(
      fc.asyncProperty(anyDelivery, async (delivery) => {
        server.respondWith({ ...reply, ...delivery });
        const { events } = await callToEnd(providerAt(server), anthropicRequest());
        expect(events.slice(0, -1)).toEqual(expected.slice(0, -1));
      }),
      { numRuns: 20 },
    );
  });
});
