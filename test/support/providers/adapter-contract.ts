import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callModel } from '../../../src/model/call-model.ts';
import type { ApiAdapter, Endpoint, StreamTimeouts } from '../../../src/model/endpoint.ts';
import type { ModelRequest } from '../../../src/model/request.ts';
import { callToEnd, scriptedRequest } from '../../../src/model/scripted/testing/call.ts';
import type { Model } from '../../../src/protocol/generated/vocabulary.ts';
import {
  type Api,
  type Delivery,
  type ModelReply,
  type PlainResponse,
  ProviderDouble,
  type SentEvent,
} from './provider-double.ts';

/** An API adapter, and the API that its double implements. */
export interface AdapterUnderTest {
  readonly adapter: ApiAdapter;
  readonly api: Api;
  readonly model: Model;
}

const timeouts: StreamTimeouts = { connectMs: 10_000, firstByteMs: 10_000, betweenMs: 10_000 };

export const endpointAt = (double: ProviderDouble, own: Partial<Endpoint> = {}): Endpoint => ({
  baseUrl: double.url,
  apiKey: 'key',
  headers: {},
  timeouts,
  ...own,
});

/** Makes one model call against a double that sends this response. */
export async function callOnce(
  subject: AdapterUnderTest,
  response: (ModelReply & Delivery) | PlainResponse,
  own: Partial<ModelRequest> = {},
) {
  const double = await ProviderDouble.start(subject.api);
  double.respondWith(response);
  const result = await callToEnd(
    subject.adapter(endpointAt(double)),
    scriptedRequest({ model: subject.model, ...own }),
  );
  return { ...result, request: await double.request(0) };
}

/** The same adapter against a double that streams exactly these events. */
export const withEvents = (subject: AdapterUnderTest, events: readonly SentEvent[]): AdapterUnderTest => ({
  ...subject,
  api: { ...subject.api, encode: () => events },
});

const fullReply: ModelReply = {
  thinking: 'Hm, wär’ es so?',
  text: 'Ja – 🙂 so ist es.',
  calls: [
    { id: 'a', name: 'read', arguments: { path: 'ä.txt' } },
    { id: 'b', name: 'bash', arguments: { command: 'echo "é"' } },
  ],
};

/** Tests that every API adapter must pass. */
export function adapterContract(subject: AdapterUnderTest): void {
  describe('a response that is not a stream', () => {
    it.each<[PlainResponse, object]>([
      [
        { status: 400, message: 'No such field' },
        { code: 'model_error', status: 400 },
      ],
      [
        { status: 401, message: 'Wrong key' },
        { code: 'auth_failed', status: 401 },
      ],
      [
        { status: 429, message: 'Slow down', headers: { 'retry-after': '7' } },
        { code: 'rate_limited', status: 429, retryAfterMs: 7000 },
      ],
      [
        { status: 500, message: 'Oh dear' },
        { code: 'model_error', status: 500 },
      ],
      [
        { status: 503, message: 'Come back later' },
        { code: 'overloaded', status: 503 },
      ],
      [
        { status: 529, message: 'Come back later' },
        { code: 'overloaded', status: 529 },
      ],
      [
        { status: 400, message: 'The input token count (9) exceeds the maximum number of tokens allowed (8)' },
        { code: 'context_overflow', status: 400 },
      ],
    ])('%j fails the call with its code', async (refusal, expected) => {
      const { failure, message } = await callOnce(subject, refusal);

      expect(failure).toMatchObject(expected);
      expect(message).toMatchObject({ content: [], stopReason: 'error' });
      expect(message.errorMessage).toContain(refusal.message);
    });

    it('but HTML fails the call with the beginning of the page', async () => {
      const page = { status: 200, body: '<h1>Log in</h1>', headers: { 'content-type': 'text/html' } };

      const { failure } = await callOnce(subject, page);

      expect(failure).toMatchObject({ code: 'model_error', message: expect.stringContaining('<h1>Log in</h1>') });
    });
  });

  describe('a stream', () => {
    it('with an error event keeps the text received so far', async () => {
      const error = { type: 'overloaded', message: 'Too much to do' };

      const { message, failure } = await callOnce(subject, { text: 'so far', error });

      expect(failure).toMatchObject({ code: 'overloaded', message: expect.stringContaining('Too much to do') });
      expect(message.content).toMatchObject([{ type: 'text', text: 'so far' }]);
    });

    it('that is cut keeps the text received so far', async () => {
      const events = subject.api.encode({ text: 'so far' });

      const { message, failure } = await callOnce(subject, { text: 'so far', cutAfter: events.length - 1 });

      expect(failure).toMatchObject({ code: 'connection_lost' });
      expect(message.content).toMatchObject([{ type: 'text', text: 'so far' }]);
    });

    it('that ends before the response is complete fails with connection_lost', async () => {
      const events = subject.api.encode({ text: 'so far' }).slice(0, -1);

      const { failure } = await callOnce(withEvents(subject, events), {});

      expect(failure).toMatchObject({
        code: 'connection_lost',
        message: 'The stream ended before the answer did',
      });
    });

    it('that is cut after its last event succeeds', async () => {
      const { message } = await callOnce(subject, {
        text: 'all',
        cutAfter: subject.api.encode({ text: 'all' }).length,
      });

      expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'all' }] });
    });

    it('that stalls fails with stalled', async () => {
      const double = await ProviderDouble.start(subject.api);
      double.respondWith({ text: 'so far', stallAfter: subject.api.encode({ text: 'so far' }).length - 1 });
      const endpoint = endpointAt(double, { timeouts: { ...timeouts, betweenMs: 50 } });

      const { failure } = await callToEnd(subject.adapter(endpoint), scriptedRequest({ model: subject.model }));

      expect(failure).toMatchObject({ code: 'stalled' });
    });

    it.each(['{"type":"resp', 'null', '17'])(
      'with the malformed data %s fails with that data in the message',
      async (data) => {
        const { failure } = await callOnce(withEvents(subject, [{ data }]), {});

        expect(failure).toMatchObject({ code: 'model_error', message: expect.stringContaining(data) });
      },
    );
  });

  it('an abort ends the call and closes the connection', async () => {
    const double = await ProviderDouble.start(subject.api);
    double.respondWith({ text: 'so far', stallAfter: subject.api.encode({ text: 'so far' }).length - 1 });
    const controller = new AbortController();
    const request = scriptedRequest({ model: subject.model, signal: controller.signal });

    let end: unknown;
    for await (const event of callModel(subject.adapter(endpointAt(double)), request).events) {
      if (event.type === 'text_delta') controller.abort();
      if (event.type === 'end') end = event.message;
    }
    await (await double.request(0)).closed;

    expect(end).toMatchObject({ stopReason: 'aborted' });
  });

  it('the events do not depend on how the bytes are split', async () => {
    const { events: expected } = await callOnce(subject, fullReply);
    const double = await ProviderDouble.start(subject.api);
    const deliveries = fc.record({
      pieces: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 21, max: 2000 })),
      lineEnd: fc.constantFrom('\n' as const, '\r\n' as const),
      comments: fc.boolean(),
    });

    await fc.assert(
      fc.asyncProperty(deliveries, async (delivery) => {
        double.respondWith({ ...fullReply, ...delivery });

        const { events } = await callToEnd(
          subject.adapter(endpointAt(double)),
          scriptedRequest({ model: subject.model }),
        );

        expect(events.slice(0, -1)).toEqual(expected.slice(0, -1));
      }),
      { numRuns: 25, examples: [[{ pieces: 1, lineEnd: '\r\n', comments: true }]] },
    );
  });

  it('consecutive calls share one connection', async () => {
    const double = await ProviderDouble.start(subject.api);
    double.respondWith({ text: 'one' }, { text: 'two' });
    const provider = subject.adapter(endpointAt(double));

    await callToEnd(provider, scriptedRequest({ model: subject.model }));
    await callToEnd(provider, scriptedRequest({ model: subject.model }));

    const [first, second] = double.requests.map(({ port }) => port);
    expect(second).toBe(first);
  });

  it('headers of the user replace the defaults', async () => {
    const double = await ProviderDouble.start(subject.api);
    double.respondWith({ text: 'x' });
    const endpoint = endpointAt(double, { apiKey: undefined, headers: { 'X-Own': 'mine', Accept: 'text/mine' } });

    await callToEnd(subject.adapter(endpoint), scriptedRequest({ model: subject.model }));

    const { headers } = await double.request(0);
    expect(headers).toMatchObject({ 'x-own': 'mine', accept: 'text/mine', 'content-type': 'application/json' });
    expect(JSON.stringify(headers)).not.toContain('key');
  });

  describe('a wire observer', () => {
    it('changes the headers of the request, and null removes one', async () => {
      const { request } = await callOnce(
        subject,
        { text: 'x' },
        {
          wire: {
            onHeaders: (headers) => {
              expect(JSON.stringify(headers)).toContain('key');
              Object.assign(headers, { 'X-Added': 'yes', Accept: null, 'content-type': undefined });
            },
          },
        },
      );

      expect(request.headers).toMatchObject({ 'x-added': 'yes', 'content-type': 'application/json' });
      expect(request.headers).not.toHaveProperty('accept');
    });

    it('gets the status and the headers of each response, without keys and cookies', async () => {
      const responses: unknown[] = [];
      const headers = { 'x-echo': 'Bearer secret-key', 'set-cookie': 'id=1' };
      const double = await ProviderDouble.start(subject.api);
      double.respondWith({ status: 429, message: 'Slow down', headers });

      await callToEnd(
        subject.adapter(endpointAt(double, { apiKey: 'secret-key' })),
        scriptedRequest({ model: subject.model, wire: { onResponse: (response) => void responses.push(response) } }),
      );

      expect(responses).toMatchObject([{ status: 429, headers: { 'x-echo': 'Bearer …', 'set-cookie': '…' } }]);
    });

    it('gets each object of the stream as the server sent it, and changes to it have no effect', async () => {
      const seen: object[] = [];

      const { message } = await callOnce(
        subject,
        { text: 'all' },
        {
          wire: {
            onStreamEvent: async (event) => {
              seen.push(structuredClone(event as object));
              for (const name of Object.keys(event as object)) delete (event as Record<string, unknown>)[name];
            },
          },
        },
      );

      const sent = subject.api.encode({ text: 'all' }).filter(({ data }) => data.startsWith('{'));
      expect(seen).toEqual(sent.map(({ data }) => JSON.parse(data)));
      expect(message.content).toMatchObject([{ type: 'text', text: 'all' }]);
    });

    it('that fails fails the call, and nothing is sent', async () => {
      const double = await ProviderDouble.start(subject.api);
      const wire = { onHeaders: () => Promise.reject(new Error('Not allowed')) };

      const { message } = await callToEnd(
        subject.adapter(endpointAt(double)),
        scriptedRequest({ model: subject.model, wire }),
      );

      expect(message).toMatchObject({ stopReason: 'error', errorMessage: 'Not allowed' });
      expect(double.requests).toEqual([]);
    });
  });
}
