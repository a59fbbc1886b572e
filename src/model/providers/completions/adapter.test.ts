import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completions } from '../../../../test/support/providers/completions.ts';
import {
  type Delivery,
  type ModelReply,
  type PlainResponse,
  ProviderDouble,
} from '../../../../test/support/providers/provider-double.ts';
import { callModel } from '../../call-model.ts';
import type { StreamTimeouts } from '../../endpoint.ts';
import type { ModelEvent } from '../../request.ts';
import { callToEnd } from '../../scripted/testing/call.ts';
import { openaiCompletions } from './adapter.ts';
import { sampleEndpoint, sampleModel, sampleRequest } from './testing/sample.ts';

const providerFor = (double: ProviderDouble, timeouts: Partial<StreamTimeouts> = {}) => {
  const endpoint = sampleEndpoint({ baseUrl: double.url });
  return openaiCompletions({ ...endpoint, timeouts: { ...endpoint.timeouts, ...timeouts } });
};

async function respond(turn: (ModelReply & Delivery) | PlainResponse, timeouts: Partial<StreamTimeouts> = {}) {
  const double = await ProviderDouble.start(completions);
  double.respondWith(turn);
  return { double, ...(await callToEnd(providerFor(double, timeouts), sampleRequest())) };
}

const full: ModelReply = {
  thinking: 'Let me see.',
  text: 'Häuser 🏡, two of them.',
  calls: [
    { id: 'c1', name: 'read', arguments: { path: 'a.txt' } },
    { id: 'c2', name: 'read', arguments: { path: 'b.txt', lines: [1, 2] } },
  ],
  usage: { input: 70, output: 20, cacheRead: 30 },
};

const types = (events: readonly ModelEvent[]) => events.map(({ type }) => type);

describe('a response', () => {
  it('holds thinking, text and calls, with their cost', async () => {
    const { events, message } = await respond(full);

    expect(types(events)).toEqual([
      ...['thinking_start', 'thinking_delta', 'thinking_delta', 'thinking_end'],
      ...['text_start', 'text_delta', 'text_delta', 'text_end'],
      ...['toolcall_start', 'toolcall_delta', 'toolcall_delta', 'toolcall_end'],
      ...['toolcall_start', 'toolcall_delta', 'toolcall_delta'],
      'usage',
      'toolcall_end',
      'end',
    ]);
    expect(message).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Let me see.', thinkingSignature: 'reasoning_content' },
        { type: 'text', text: 'Häuser 🏡, two of them.' },
        { type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'a.txt' } },
        { type: 'toolCall', id: 'c2', name: 'read', arguments: { path: 'b.txt', lines: [1, 2] } },
      ],
      api: 'openai-completions',
      provider: 'openai',
      model: 'gpt-test',
      usage: {
        input: 70,
        output: 20,
        cacheRead: 30,
        cacheWrite: 0,
        totalTokens: 120,
        cost: { input: 70e-6, output: 40e-6, cacheRead: 15e-6, cacheWrite: 0, total: expect.closeTo(125e-6, 12) },
      },
      stopReason: 'toolUse',
      rawStopReason: 'tool_calls',
      responseId: 'chatcmpl-1',
      responseModel: 'gpt-test-2026',
    });
  });

  it('is requested at the right path with the key', async () => {
    const { double } = await respond({ text: 'Hi.' });

    expect(double.requests).toMatchObject([
      { path: '/chat/completions', headers: { authorization: 'Bearer sk-test' }, body: { model: 'gpt-test' } },
    ]);
  });

  it('is requested without authorization if there is no key', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'Hi.' });

    await callToEnd(
      openaiCompletions({ ...sampleEndpoint({ baseUrl: double.url }), apiKey: undefined }),
      sampleRequest(),
    );

    expect(double.requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('may exceed the output limit', async () => {
    const { message } = await respond({ text: 'And then', stop: 'length' });

    expect(message).toMatchObject({ stopReason: 'length' });
    expect(message).not.toHaveProperty('rawStopReason');
  });

  it('follows the quirks of the actual server, not of the one that the model names', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'Hi.' });

    await callToEnd(providerFor(double), sampleRequest({ model: sampleModel({ provider: 'mine' }) }));

    expect(double.requests[0]?.body).not.toHaveProperty('store');
  });

  it('is the same however its bytes arrive', async () => {
    const plain = await respond(full);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        async (pieces, lineEnd, comments) => {
          const delivery: Delivery = { chunkBytes: pieces, lineEnd, comments };
          const { events, message } = await respond({ ...full, ...delivery });

          expect(events.slice(0, -1)).toEqual(plain.events.slice(0, -1));
          expect(message).toEqual(plain.message);
        },
      ),
      { numRuns: 12, examples: [[1, '\r\n', true]] },
    );
  });
});

describe('an abort', () => {
  it('in mid-stream disconnects from the server', async () => {
    const double = await ProviderDouble.start(completions);
    double.respondWith({ text: 'Endless', stallAfter: 2 });
    const controller = new AbortController();
    const events = [];
    for await (const event of callModel(providerFor(double), sampleRequest({ signal: controller.signal })).events) {
      events.push(event);
      if (event.type === 'text_delta') controller.abort();
    }

    expect(events.at(-1)).toMatchObject({ message: { stopReason: 'aborted', content: [{ text: 'Endl' }] } });
    await (await double.request(0)).closed;
  });
});

describe('an error response', () => {
  it.each([
    [{ status: 400, message: 'Bad field' }, 'model_error', '400 Bad field (invalid_request_error)'],
    [{ status: 401, message: 'Wrong key' }, 'auth_failed', '401 Wrong key (invalid_request_error)'],
    [{ status: 500, message: 'Oops' }, 'model_error', '500 Oops (server_error)'],
    [{ status: 503, message: 'Later' }, 'overloaded', '503 Later (server_error)'],
    [
      { status: 400, message: "This model's maximum context length is 8192 tokens." },
      'context_overflow',
      "400 This model's maximum context length is 8192 tokens. (invalid_request_error)",
    ],
    [
      { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } },
      'model_error',
      'Expected a stream of events, got text/html: <html>',
    ],
  ])('%j yields its code and its message', async (refusal, code, messageText) => {
    const { message, failure } = await respond(refusal);

    expect(failure).toMatchObject({ code, message: messageText });
    expect(message).toMatchObject({ stopReason: 'error', errorCode: code, errorMessage: messageText, content: [] });
  });

  it('may have a retry delay', async () => {
    const { failure } = await respond({ status: 429, message: 'Slow down', headers: { 'retry-after': '7' } });

    expect(failure).toMatchObject({ code: 'rate_limited', retryAfterMs: 7000 });
  });
});

describe('an interrupted stream', () => {
  it('with an error event reports it', async () => {
    const error = { type: 'rate_limit_error', message: 'Too many tokens at once' };
    const { message } = await respond({ text: 'Well', error });

    expect(message).toMatchObject({
      stopReason: 'error',
      errorCode: 'rate_limited',
      errorMessage: 'Too many tokens at once (rate_limit_error)',
      content: [{ text: 'Well' }],
    });
  });

  it('with a lost connection keeps the content so far', async () => {
    const { message } = await respond({ text: 'Well', cutAfter: 2 });

    expect(message).toMatchObject({ stopReason: 'error', errorCode: 'connection_lost', content: [{ text: 'We' }] });
  });

  it('that stalls keeps the content so far', async () => {
    const { message } = await respond({ text: 'Well', stallAfter: 2 }, { betweenMs: 50 });

    expect(message).toMatchObject({ stopReason: 'error', errorCode: 'stalled', content: [{ text: 'We' }] });
  });

  it.each([{ cutAfter: 4 }, { stallAfter: 4 }])('after the finish reason is complete: %j', async (delivery) => {
    const { message } = await respond({ text: 'Well', ...delivery }, { betweenMs: 50 });

    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'Well' }] });
  });
});
