import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callModel } from '../../../src/model/call-model.ts';
import type { ApiAdapter, Endpoint, StreamTimeouts } from '../../../src/model/endpoint.ts';
import type { ModelRequest } from '../../../src/model/request.ts';
import { callToEnd, scriptedRequest } from '../../../src/model/scripted/testing/call.ts';
import type { Model } from '../../../src/protocol/generated/vocabulary.ts';
import { type Api, type Manner, ProviderDouble, type Refusal, type Reply, type SentEvent } from './double.ts';

/** A wire, and what stands at its other end. */
export interface Subject {
  readonly wire: ApiAdapter;
  readonly api: Api;
  readonly model: Model;
}

const patience: StreamTimeouts = { connectMs: 10_000, firstByteMs: 10_000, betweenMs: 10_000 };

export const endpointAt = (double: ProviderDouble, own: Partial<Endpoint> = {}): Endpoint => ({
  baseUrl: double.url,
  apiKey: 'key',
  headers: {},
  timeouts: patience,
  ...own,
});

/** Asks once, and hears what comes of the turn that the other end takes. */
export async function exchange(subject: Subject, turn: (Reply & Manner) | Refusal, own: Partial<ModelRequest> = {}) {
  const double = await ProviderDouble.start(subject.api);
  double.says(turn);
  const performance = await callToEnd(
    subject.wire(endpointAt(double)),
    scriptedRequest({ model: subject.model, ...own }),
  );
  return { ...performance, request: await double.request(0) };
}

/** What the other end says when it says exactly this. */
export const exactly = (subject: Subject, events: readonly SentEvent[]): Subject => ({
  ...subject,
  api: { ...subject.api, speak: () => events },
});

const full: Reply = {
  thinking: 'Hm, wär’ es so?',
  text: 'Ja – 🙂 so ist es.',
  calls: [
    { id: 'a', name: 'read', arguments: { path: 'ä.txt' } },
    { id: 'b', name: 'bash', arguments: { command: 'echo "é"' } },
  ],
};

/** What every wire does, whatever it speaks. */
export function wireContract(subject: Subject): void {
  describe('a refusal', () => {
    it.each<[Refusal, object]>([
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
    ])('%j is told as what it is', async (refusal, told) => {
      const { failure, message } = await exchange(subject, refusal);

      expect(failure).toMatchObject(told);
      expect(message).toMatchObject({ content: [], stopReason: 'error' });
      expect(message.errorMessage).toContain(refusal.message);
    });

    it('that is a page is told with its beginning', async () => {
      const page = { status: 200, body: '<h1>Log in</h1>', headers: { 'content-type': 'text/html' } };

      const { failure } = await exchange(subject, page);

      expect(failure).toMatchObject({ code: 'model_error', message: expect.stringContaining('<h1>Log in</h1>') });
    });
  });

  describe('a stream that goes wrong', () => {
    it('with an error keeps what was said', async () => {
      const error = { type: 'overloaded', message: 'Too much to do' };

      const { message, failure } = await exchange(subject, { text: 'so far', error });

      expect(failure).toMatchObject({ code: 'overloaded', message: expect.stringContaining('Too much to do') });
      expect(message.content).toMatchObject([{ type: 'text', text: 'so far' }]);
    });

    it('by a break keeps what was said', async () => {
      const events = subject.api.speak({ text: 'so far' });

      const { message, failure } = await exchange(subject, { text: 'so far', cutAfter: events.length - 1 });

      expect(failure).toMatchObject({ code: 'connection_lost' });
      expect(message.content).toMatchObject([{ type: 'text', text: 'so far' }]);
    });

    it('by an end that comes too early is no answer', async () => {
      const events = subject.api.speak({ text: 'so far' }).slice(0, -1);

      const { failure } = await exchange(exactly(subject, events), {});

      expect(failure).toMatchObject({
        code: 'connection_lost',
        message: 'The stream ended before the answer did',
      });
    });

    it('after its end is an answer all the same', async () => {
      const { message } = await exchange(subject, { text: 'all', cutAfter: subject.api.speak({ text: 'all' }).length });

      expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'all' }] });
    });

    it('by silence is told so', async () => {
      const double = await ProviderDouble.start(subject.api);
      double.says({ text: 'so far', stallAfter: subject.api.speak({ text: 'so far' }).length - 1 });
      const endpoint = endpointAt(double, { timeouts: { ...patience, betweenMs: 50 } });

      const { failure } = await callToEnd(subject.wire(endpoint), scriptedRequest({ model: subject.model }));

      expect(failure).toMatchObject({ code: 'stalled' });
    });

    it.each(['{"type":"resp', 'null', '17'])('by %s is told with it', async (data) => {
      const { failure } = await exchange(exactly(subject, [{ data }]), {});

      expect(failure).toMatchObject({ code: 'model_error', message: expect.stringContaining(data) });
    });
  });

  it('leaves when it is told to, and the other end notices', async () => {
    const double = await ProviderDouble.start(subject.api);
    double.says({ text: 'so far', stallAfter: subject.api.speak({ text: 'so far' }).length - 1 });
    const controller = new AbortController();
    const request = scriptedRequest({ model: subject.model, signal: controller.signal });

    let end: unknown;
    for await (const event of callModel(subject.wire(endpointAt(double)), request).events) {
      if (event.type === 'text_delta') controller.abort();
      if (event.type === 'end') end = event.message;
    }
    await (await double.request(0)).closed;

    expect(end).toMatchObject({ stopReason: 'aborted' });
  });

  it('makes the same steps however the bytes come', async () => {
    const { events: expected } = await exchange(subject, full);
    const double = await ProviderDouble.start(subject.api);
    const manners = fc.record({
      pieces: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 21, max: 2000 })),
      lineEnd: fc.constantFrom('\n' as const, '\r\n' as const),
      comments: fc.boolean(),
    });

    await fc.assert(
      fc.asyncProperty(manners, async (manner) => {
        double.says({ ...full, ...manner });

        const { events } = await callToEnd(subject.wire(endpointAt(double)), scriptedRequest({ model: subject.model }));

        expect(events.slice(0, -1)).toEqual(expected.slice(0, -1));
      }),
      { numRuns: 25, examples: [[{ pieces: 1, lineEnd: '\r\n', comments: true }]] },
    );
  });

  it('needs one connection for one answer after the other', async () => {
    const double = await ProviderDouble.start(subject.api);
    double.says({ text: 'one' }, { text: 'two' });
    const provider = subject.wire(endpointAt(double));

    await callToEnd(provider, scriptedRequest({ model: subject.model }));
    await callToEnd(provider, scriptedRequest({ model: subject.model }));

    const [first, second] = double.requests.map(({ port }) => port);
    expect(second).toBe(first);
  });

  it('lets the headers of the user win', async () => {
    const double = await ProviderDouble.start(subject.api);
    double.says({ text: 'x' });
    const endpoint = endpointAt(double, { apiKey: undefined, headers: { 'X-Own': 'mine', Accept: 'text/mine' } });

    await callToEnd(subject.wire(endpoint), scriptedRequest({ model: subject.model }));

    const { headers } = await double.request(0);
    expect(headers).toMatchObject({ 'x-own': 'mine', accept: 'text/mine', 'content-type': 'application/json' });
    expect(JSON.stringify(headers)).not.toContain('key');
  });
}
