import { describe, expect, it } from 'vitest';
import {
  anthropicApi,
  anthropicEvent,
  openingEvents,
  streamOf,
} from '../../../../test/support/providers/anthropic-messages.ts';
import {
  type Delivery,
  type ModelReply,
  type PlainResponse,
  ProviderDouble,
} from '../../../../test/support/providers/provider-double.ts';
import { callToEnd } from '../../scripted/testing/call.ts';
import { anthropicMessages } from './adapter.ts';
import { anthropicRequest, text } from './testing/conversation.ts';

/** The outcome of a response to this server behaviour. */
async function respond(turn: (ModelReply & Delivery) | PlainResponse, betweenMs = 10_000) {
  const server = await ProviderDouble.start(anthropicApi);
  server.respondWith(turn);
  const timeouts = { connectMs: 10_000, firstByteMs: 10_000, betweenMs };
  const provider = anthropicMessages({ baseUrl: server.url, apiKey: 'k', headers: {}, timeouts });
  return callToEnd(provider, anthropicRequest());
}

describe('an error response', () => {
  it.each<[number, string, string, string]>([
    [400, 'model: field required', 'model_error', '400 model: field required (invalid_request_error)'],
    [400, 'prompt is too long: 201000 tokens > 200000 maximum', 'context_overflow', '400 prompt is too long: 201000'],
    [401, 'invalid x-api-key', 'auth_failed', '401 invalid x-api-key (authentication_error)'],
    [403, 'not allowed', 'auth_failed', '403 not allowed (permission_error)'],
    [413, 'Request exceeds the maximum size', 'context_overflow', '413 Request exceeds the maximum size'],
    [500, 'Internal server error', 'model_error', '500 Internal server error (api_error)'],
    [529, 'Overloaded', 'overloaded', '529 Overloaded (overloaded_error)'],
  ])('of %i "%s" is %s', async (status, message, code, messageText) => {
    const { message: response, failure } = await respond({ status, message });

    expect(response).toMatchObject({ content: [], stopReason: 'error', errorCode: code });
    expect(response.errorMessage).toContain(messageText);
    expect(failure).toMatchObject({ status, code });
  });

  it('of 429 has the retry delay', async () => {
    const { failure } = await respond({ status: 429, message: 'Slow down', headers: { 'retry-after': '7' } });

    expect(failure).toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 7000,
      message: '429 Slow down (rate_limit_error)',
    });
  });

  it('may be an HTML page', async () => {
    const { failure } = await respond({ status: 200, body: '<p>Hello</p>', headers: { 'content-type': 'text/html' } });

    expect(failure).toMatchObject({
      code: 'model_error',
      message: 'Expected a stream of events, got text/html: <p>Hello</p>',
    });
  });
});

describe('an interruption', () => {
  const reply = { text: 'one two', usage: { input: 30, output: 9 } };
  const partial = { content: [text('one ')], stopReason: 'error', usage: { input: 30, output: 1 } };

  it.each([
    ['overloaded_error', 'Overloaded', 'overloaded'],
    ['rate_limit_error', 'Slow down', 'rate_limited'],
    ['api_error', 'Internal server error', 'model_error'],
    ['invalid_request_error', 'prompt is too long', 'context_overflow'],
  ])('by an error event of type %s has its message', async (type, messageText, code) => {
    const { message } = await respond({ ...reply, error: { type, message: messageText } });

    expect(message).toMatchObject({
      content: [text('one two')],
      usage: { input: 30 },
      errorCode: code,
      errorMessage: `${messageText} (${type})`,
    });
  });

  it('by an error event without a message shows the event', async () => {
    const { failure } = await respond(streamOf(anthropicEvent({ type: 'error' })));

    expect(failure).toMatchObject({ code: 'model_error', message: '{"type":"error"}' });
  });

  it('of the connection keeps the content and usage so far', async () => {
    const { message } = await respond({ ...reply, cutAfter: 4 });

    expect(message).toMatchObject({ ...partial, errorCode: 'connection_lost' });
  });

  it('by an end of the stream without message_stop is a failure', async () => {
    const { message } = await respond(streamOf(...anthropicApi.encode(reply).slice(0, 4)));

    expect(message).toMatchObject({
      ...partial,
      errorCode: 'connection_lost',
      errorMessage: 'The stream ended before the answer did',
    });
  });

  it('by a stall is a failure', async () => {
    const { message } = await respond({ ...reply, stallAfter: 4 }, 200);

    expect(message).toMatchObject({ ...partial, errorCode: 'stalled' });
  });

  it.each([
    ['no JSON', '{"type":', '{"type":'],
    ['no event', '[1]', '[1]'],
    ['much of it', 'x'.repeat(300), `${'x'.repeat(200)}…`],
  ])('by a malformed event quotes it: %s', async (_what, data, quoted) => {
    const { failure } = await respond(streamOf(...openingEvents({}), { event: 'message_delta', data }));

    expect(failure).toMatchObject({
      code: 'model_error',
      message: expect.stringMatching(/^Expected (?:a JSON object|an event)/),
    });
    expect(failure?.message.endsWith(` ${quoted}`)).toBe(true);
  });
});
