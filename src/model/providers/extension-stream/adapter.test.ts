import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callModel } from '../../call-model.ts';
import type { StreamTimeouts } from '../../endpoint.ts';
import type { StreamContext, StreamOptions, StreamSimple } from '../../registry/provider-config.ts';
import type { ModelEvent, ModelRequest } from '../../request.ts';
import { callToEnd, scriptedRequest } from '../../scripted/testing/call.ts';
import { extensionStream } from './adapter.ts';

const longTimeouts = { connectMs: 60_000, firstByteMs: 60_000, betweenMs: 60_000 };
const model = {
  ...scriptedRequest().model,
  provider: 'acme',
  id: 'm',
  api: 'acme-api',
  cost: { input: 1_000_000, output: 2_000_000, cacheRead: 0, cacheWrite: 0 },
};
const counts = { input: 3, output: 4, cacheRead: 0, cacheWrite: 0, totalTokens: 7 };
const text = (content: string) => ({ type: 'text', text: content });
const call = (id: string, values: object = { path: 'x' }) => ({
  type: 'toolCall',
  id,
  name: 'read',
  arguments: values,
});
const done = (content: unknown[], more: object = {}) => ({
  type: 'done',
  reason: 'stop',
  message: { role: 'assistant', content, usage: counts, stopReason: 'stop', ...more },
});

async function* streamOf(events: readonly unknown[]) {
  yield* events;
}

const providerFor = (stream: StreamSimple, timeouts: Partial<StreamTimeouts> = {}) =>
  extensionStream(stream)({
    baseUrl: '',
    apiKey: 'key',
    headers: { 'x-own': 'yes' },
    timeouts: { ...longTimeouts, ...timeouts },
  });

const requestTo = (own: Partial<ModelRequest> = {}) => scriptedRequest({ model, ...own });
const decodeEvents = (...events: unknown[]) =>
  callToEnd(
    providerFor(() => streamOf(events)),
    requestTo(),
  );
const steps = (events: readonly ModelEvent[]) => events.map(({ type }) => type).filter((type) => type !== 'usage');

describe('a response of an extension', () => {
  it('streams in pieces, with signatures, usage and cost', async () => {
    const thinkingBlock = { type: 'thinking', thinking: 'Hm', thinkingSignature: 's' };
    const partial = { content: [thinkingBlock, text('Good day'), { ...call('c'), thoughtSignature: 't' }] };

    const { events, message } = await decodeEvents(
      { type: 'start', partial: { usage: { input: 3 } } },
      { type: 'thinking_start', contentIndex: 0, partial },
      { type: 'thinking_delta', contentIndex: 0, delta: 'Hm', partial },
      { type: 'thinking_end', contentIndex: 0, content: 'Hm', partial },
      { type: 'text_start', contentIndex: 1, partial },
      { type: 'text_delta', contentIndex: 1, delta: 'Good', partial },
      { type: 'text_delta', contentIndex: 1, delta: ' day', partial },
      { type: 'text_end', contentIndex: 1, content: 'Good day', partial },
      { type: 'toolcall_start', contentIndex: 2, partial },
      { type: 'toolcall_delta', contentIndex: 2, delta: '{"path":', partial },
      { type: 'toolcall_delta', contentIndex: 2, delta: '"x"}', partial },
      { type: 'toolcall_end', contentIndex: 2, toolCall: partial.content[2], partial },
      done(partial.content, { responseId: 'r', responseModel: 'm-2' }),
    );

    expect(steps(events)).toEqual([
      'thinking_start',
      'thinking_delta',
      'thinking_end',
      'text_start',
      'text_delta',
      'text_delta',
      'text_end',
      'toolcall_start',
      'toolcall_delta',
      'toolcall_delta',
      'toolcall_end',
      'end',
    ]);
    expect(message).toMatchObject({
      content: partial.content,
      stopReason: 'toolUse',
      responseId: 'r',
      responseModel: 'm-2',
      usage: { ...counts, cost: { input: 3, output: 8, total: 11 } },
    });
    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(2);
  });

  it('may come whole, or in pieces without starts and ends', async () => {
    const content = [
      { type: 'thinking', thinking: '', thinkingSignature: 's', redacted: true },
      text('All'),
      call('c'),
    ];

    expect((await decodeEvents(done(content))).message).toMatchObject({ content, stopReason: 'toolUse' });
    const sloppy = await decodeEvents(
      { type: 'text_delta', contentIndex: 0, delta: 'A' },
      { type: 'toolcall_delta', contentIndex: 1, delta: '{"path"' },
      { type: 'text_delta', contentIndex: 0, delta: 'l' },
      done([text('All'), call('c')]),
    );
    expect(sloppy.message.content).toEqual([text('All'), call('c')]);
  });

  it('keeps interleaved blocks apart', async () => {
    const partial = { content: [call('a'), call('b', { path: 'y' }), text('z')] };

    const { message } = await decodeEvents(
      { type: 'toolcall_start', contentIndex: 0, partial },
      { type: 'toolcall_start', contentIndex: 1, partial },
      { type: 'toolcall_delta', contentIndex: 1, delta: '{"path":"y"}', partial },
      { type: 'text_delta', contentIndex: 2, delta: 'z', partial },
      { type: 'toolcall_delta', contentIndex: 0, delta: '{"path":"x"}', partial },
      { type: 'toolcall_end', contentIndex: 1, toolCall: partial.content[1], partial },
      { type: 'toolcall_end', contentIndex: 0, toolCall: partial.content[0], partial },
      { type: 'text_end', contentIndex: 2, content: 'z', partial },
      done(partial.content),
    );

    expect(message.content).toEqual(partial.content);
  });

  it('is the same however its pieces are interleaved', async () => {
    const blocks = [text('one'), call('c'), text('two'), call('d', { path: 'longer' })];
    const kinds = ['text', 'toolcall', 'text', 'toolcall'];
    const pieces = blocks.map((block) => ('text' in block ? [...block.text] : [...JSON.stringify(block.arguments)]));
    const order = fc.shuffledSubarray(
      pieces.flatMap((list, index) => list.map(() => index)),
      { minLength: pieces.flat().length },
    );
    await fc.assert(
      fc.asyncProperty(order, fc.boolean(), async (indexes, hasEnds) => {
        const rest = pieces.map((list) => [...list]);
        const partial = { content: blocks };
        const starts = blocks.map((_, at) => ({ type: `${kinds[at]}_start`, contentIndex: at, partial }));
        const deltas = indexes.map((at) => ({
          type: `${kinds[at]}_delta`,
          contentIndex: at,
          delta: rest[at]?.shift(),
        }));
        const ends = blocks.map((_, at) => ({ type: `${kinds[at]}_end`, contentIndex: at, partial })).toReversed();

        const { message } = await decodeEvents(...starts, ...deltas, ...(hasEnds ? ends : []), done(blocks));

        expect(message.content).toEqual(blocks);
      }),
    );
  });

  it('may stop at its limit, and costs what it reports', async () => {
    const cost = { input: 0.5, output: 0.25, cacheRead: 0, cacheWrite: 0, total: 0.75 };

    const { message } = await decodeEvents(done([text('x')], { stopReason: 'length', usage: { ...counts, cost } }));

    expect(message).toMatchObject({ stopReason: 'length', usage: { cost } });
  });

  it('is not waited for once it is complete', async () => {
    const endless = async function* () {
      yield done([text('x')]);
      await new Promise(() => {});
    };

    expect((await callToEnd(providerFor(endless), requestTo())).message).toMatchObject({ stopReason: 'stop' });
  });
});

describe('the code of an extension', () => {
  it('gets copies of the request', async () => {
    const user = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }], timestamp: 1 };
    const tool = { name: 'read', description: 'Reads', parameters: { type: 'object' }, run: () => {} };
    const given: { context?: StreamContext; options?: StreamOptions } = {};
    const stream: StreamSimple = (its, context, options) => {
      Object.assign(given, { context: structuredClone(context), options });
      Object.assign(its, { id: 'changed' });
      for (const message of context.messages as { content: unknown }[]) message.content = 'changed';
      return streamOf([done([text('x')])]);
    };
    const request = requestTo({ systemPrompt: 'Be kind', messages: [user], tools: [tool], thinkingLevel: 'high' });

    const { message } = await callToEnd(providerFor(stream), { ...request, sessionId: 's', maxTokens: 5 });

    const tools = [{ name: 'read', description: 'Reads', parameters: { type: 'object' } }];
    const system = { role: 'system', content: 'Be kind', toolsAdded: tools, timestamp: 0 };
    expect(given.context).toEqual({ systemPrompt: 'Be kind', messages: [system, user], tools });
    expect(given.options).toEqual({
      apiKey: 'key',
      headers: { 'x-own': 'yes' },
      signal: expect.any(AbortSignal),
      reasoning: 'high',
      maxTokens: 5,
      sessionId: 's',
    });
    expect([message.model, user.content]).toEqual(['m', [{ type: 'text', text: 'Hello' }]]);
  });

  it('gets the payload hook', async () => {
    let posted: unknown;
    const stream: StreamSimple = async function* (_model, _context, { onPayload }) {
      posted = await onPayload?.({ a: 1 });
      yield done([text('x')]);
    };

    await callToEnd(providerFor(stream), requestTo({ onPayload: async (body) => ({ ...(body as object), b: 2 }) }));

    expect(posted).toEqual({ a: 1, b: 2 });
  });

  it('gets the wire observer and the headers that it changed', async () => {
    const seen: unknown[] = [];
    const stream: StreamSimple = async function* (_model, _context, options) {
      seen.push(options.headers);
      await options.onResponse?.({ status: 200, headers: {} });
      await options.onProviderStreamEvent?.({ raw: true });
      yield done([text('x')]);
    };
    const record = (value: unknown) => void seen.push(value);
    const onHeaders = (headers: Record<string, string | null>) => void Object.assign(headers, { 'x-added': 'yes' });

    await callToEnd(providerFor(stream), requestTo({ wire: { onHeaders, onResponse: record, onStreamEvent: record } }));

    expect(seen).toEqual([expect.objectContaining({ 'x-added': 'yes' }), { status: 200, headers: {} }, { raw: true }]);
  });

  const failure = (message: unknown, more: object = {}) => ({
    type: 'error',
    reason: 'error',
    error: { role: 'assistant', content: [], usage: counts, errorMessage: message, ...more },
  });

  it.each<[string, StreamSimple, string, string]>([
    ['reports an error', () => streamOf([failure('429 slow down: rate limit')]), 'rate_limited', '429 slow down'],
    ['reports an overflow', () => streamOf([failure('prompt is too long')]), 'context_overflow', 'too long'],
    ['reports an error without a message', () => streamOf([{ type: 'error' }]), 'model_error', 'failed without a word'],
    ['reports an abort of its own', () => streamOf([failure('stopped')]), 'model_error', 'stopped'],
    [
      'ends with an error in its message',
      () => streamOf([done([], { stopReason: 'error', errorMessage: 'overloaded' })]),
      'overloaded',
      'overloaded',
    ],
    [
      'throws',
      () => {
        throw new Error('No key for you');
      },
      'model_error',
      'No key for you',
    ],
    ['rejects', () => Promise.reject(new Error('Later')), 'model_error', 'Later'],
    [
      'throws in mid-stream',
      async function* () {
        yield { type: 'text_delta', contentIndex: 0, delta: 'x' };
        throw new Error('socket hang up');
      },
      'model_error',
      'socket hang up',
    ],
    ['ends too early', () => streamOf([{ type: 'start' }]), 'connection_lost', 'ended before the answer did'],
    ['returns nothing', () => undefined, 'model_error', 'streamSimple of acme did not answer a stream of events'],
    ['returns a list', () => [done([])], 'model_error', 'did not answer a stream of events'],
    ['emits null', () => streamOf([null]), 'model_error', 'something that is no event'],
    ['emits a string', () => streamOf(['hello']), 'model_error', 'something that is no event'],
    ['omits the index', () => streamOf([{ type: 'text_delta', delta: 'x' }]), 'model_error', 'without a contentIndex'],
    ['omits the delta', () => streamOf([{ type: 'text_delta', contentIndex: 0 }]), 'model_error', 'without a delta'],
    ['omits the message', () => streamOf([{ type: 'done' }]), 'model_error', 'an end without a message'],
    ['has blocks of unknown types', () => streamOf([done([{ type: 'video' }])]), 'model_error', 'neither text'],
    ['has null blocks', () => streamOf([done([null])]), 'model_error', 'neither text'],
    ['omits the tool name', () => streamOf([done([{ type: 'toolCall' }])]), 'model_error', 'without an id and a name'],
    [
      'has a string as arguments',
      () => streamOf([done([{ ...call('c'), arguments: 'x' }])]),
      'model_error',
      'arguments are no object',
    ],
  ])('that %s yields a failed response', async (_what, stream, errorCode, messageText) => {
    const { message } = await callToEnd(providerFor(stream), requestTo());

    expect(message).toMatchObject({
      stopReason: 'error',
      errorCode,
      errorMessage: expect.stringContaining(messageText),
    });
  });

  it('may emit events of unknown types', async () => {
    expect((await decodeEvents({ type: 'telemetry', usage: 3 }, done([text('x')]))).message.stopReason).toBe('stop');
  });

  it('may report the usage of a failed response', async () => {
    expect((await decodeEvents(failure('no'))).message.usage).toMatchObject(counts);
  });

  it.each<[string, StreamSimple, Partial<StreamTimeouts>, string]>([
    ['never returns', () => new Promise(() => {}), { firstByteMs: 20 }, 'did not begin to answer within 20 ms'],
    [
      'never emits an event',
      async function* () {
        await new Promise(() => {});
      },
      { firstByteMs: 20 },
      'did not begin to answer within 20 ms',
    ],
    [
      'stalls in mid-stream',
      async function* () {
        yield { type: 'text_delta', contentIndex: 0, delta: 'x' };
        await new Promise(() => {});
      },
      { betweenMs: 20 },
      'did not continue within 20 ms',
    ],
  ])('that %s is abandoned', async (_what, stream, timeouts, messageText) => {
    let signal: AbortSignal | undefined;
    const watched: StreamSimple = (its, context, options) => {
      signal = options.signal;
      return stream(its, context, options);
    };

    const { message } = await callToEnd(providerFor(watched, timeouts), requestTo());

    expect(message).toMatchObject({ errorCode: 'stalled', errorMessage: expect.stringContaining(messageText) });
    expect(signal?.aborted).toBe(true);
  });

  it.each<[string, StreamSimple]>([
    [
      'stalls',
      async function* () {
        yield { type: 'text_delta', contentIndex: 0, delta: 'x' };
        await new Promise(() => {});
      },
    ],
    [
      'never stops emitting text',
      async function* () {
        for (;;) yield { type: 'text_delta', contentIndex: 0, delta: 'x' };
      },
    ],
    [
      'never stops emitting unknown events',
      async function* () {
        yield { type: 'text_delta', contentIndex: 0, delta: 'x' };
        for (;;) yield { type: 'ping' };
      },
    ],
  ])('that %s is aborted', async (_what, stream) => {
    const stop = new AbortController();
    let end: ModelEvent | undefined;
    for await (const event of callModel(providerFor(stream), requestTo({ signal: stop.signal })).events) {
      if (event.type === 'text_start') void setImmediate().then(() => stop.abort());
      end = event;
    }

    expect(end).toMatchObject({ type: 'end', message: { stopReason: 'aborted' } });
  });
});
