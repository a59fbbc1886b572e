import { describe, expect, it } from 'vitest';
import {
  type AdapterUnderTest,
  adapterContract,
  callOnce,
  withEvents,
} from '../../../../test/support/providers/adapter-contract.ts';
import { chunk, googleApi, googleEvent } from '../../../../test/support/providers/google-generative-ai.ts';
import type { ModelRequest } from '../../request.ts';
import { modelNamed } from '../../scripted/testing/call.ts';
import { googleGenerativeAi } from './adapter.ts';

const model = {
  ...modelNamed('scripted'),
  id: 'gemini-2.5-double',
  api: 'google-generative-ai',
  provider: 'google',
  cost: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 0 },
};
const subject: AdapterUnderTest = { adapter: googleGenerativeAi, api: googleApi, model };

adapterContract(subject);

describe('a response', () => {
  it('is requested with the key', async () => {
    const { request } = await callOnce(subject, { text: 'x' });

    expect(request).toMatchObject({
      path: '/models/gemini-2.5-double:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': 'key' },
    });
  });

  it('has text, thinking and calls, with their signatures', async () => {
    const { message } = await callOnce(subject, {
      thinking: 'First this. Then that.',
      text: 'Hello there',
      calls: [
        { id: '', name: 'read', arguments: { path: 'a' } },
        { id: '', name: 'read', arguments: { path: 'b' } },
      ],
    });

    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'First this. Then that.' },
      { type: 'text', text: 'Hello there' },
      { type: 'toolCall', id: 'answer1_1', name: 'read', arguments: { path: 'a' }, thoughtSignature: 'c2VhbA==' },
      { type: 'toolCall', id: 'answer1_2', name: 'read', arguments: { path: 'b' } },
    ]);
    expect(message).toMatchObject({
      stopReason: 'toolUse',
      rawStopReason: 'STOP',
      responseId: 'answer1',
      responseModel: 'double-001',
    });
  });

  it('keeps a signature that follows its text', async () => {
    const { message } = await callOnce(subject, { text: 'Hello there' });

    expect(message.content).toEqual([{ type: 'text', text: 'Hello there', textSignature: 'd29yZHM=' }]);
  });

  it('keeps the signature of thinking', async () => {
    const parts = [
      { text: 'hm', thought: true, thoughtSignature: 's' },
      { text: 'yes', thoughtSignature: 't' },
    ];
    const { message } = await outcomeOf(chunk(parts, {}, { finishReason: 'STOP' }));

    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'hm', thinkingSignature: 's' },
      { type: 'text', text: 'yes', textSignature: 't' },
    ]);
  });

  it('counts input, cached, output and thinking tokens once', async () => {
    const { message, events } = await callOnce(subject, {
      thinking: 'hm hm hm',
      usage: { input: 100, output: 50, cacheRead: 1000 },
    });

    expect(message.usage).toMatchObject({ input: 100, cacheRead: 1000, output: 50, reasoning: 2, totalTokens: 1150 });
    expect(message.usage.cost.total).toBeCloseTo((100 * 2 + 50 * 8 + 1000 * 0.5) / 1e6);
    expect(events.filter(({ type }) => type === 'usage')).toEqual([{ type: 'usage', usage: message.usage }]);
  });

  it('is replayed unchanged', async () => {
    const calls = [{ id: '', name: 'ls', arguments: { path: 'a' } }];
    const { message } = await callOnce(subject, { text: 'Yes', calls });

    const { request } = await callOnce(subject, { text: 'x' }, { messages: [{ ...message, timestamp: 0 }] });

    const functionCall = { id: 'answer1_1', name: 'ls', args: { path: 'a' } };
    const parts = [{ text: 'Yes' }, { functionCall, thoughtSignature: 'c2VhbA==' }];
    expect(request.body.contents).toEqual([{ role: 'model', parts }]);
  });

  it('that is interrupted keeps the usage so far', async () => {
    const { message } = await callOnce(subject, { text: 'one two three', cutAfter: 2 });

    expect(message).toMatchObject({ stopReason: 'error', usage: { input: 10, output: 5 } });
  });

  it('that exceeds the limit stops for that reason', async () => {
    const { message } = await callOnce(subject, { text: 'and so', stop: 'length' });

    expect(message).toMatchObject({ stopReason: 'length', rawStopReason: 'MAX_TOKENS' });
  });
});

/** The outcome of exactly these chunks. */
const outcomeOf = (...chunks: object[]) => callOnce(withEvents(subject, chunks.map(googleEvent)), {});

const calls = (...ids: (string | undefined)[]) =>
  chunk(
    ids.map((id) => ({ functionCall: { name: 'ls', ...(id === undefined ? {} : { id }) } })),
    {},
    { finishReason: 'STOP' },
  );

describe('the ids of tool calls', () => {
  it('are those of the server if it sends them', async () => {
    const { message } = await outcomeOf(calls('x', 'y'));

    expect(message.content).toMatchObject([{ id: 'x', arguments: {} }, { id: 'y' }]);
  });

  it('are made distinct if the server repeats one', async () => {
    const { message } = await outcomeOf(calls('x', 'x', undefined));

    expect(message.content).toMatchObject([{ id: 'x' }, { id: 'x_2' }, { id: 'answer1_3' }]);
  });

  it('differ from those in the conversation', async () => {
    const earlier = await outcomeOf(calls('x', undefined));
    const messages = [{ ...earlier.message, timestamp: 0 }] satisfies ModelRequest['messages'];

    const { message } = await callOnce(withEvents(subject, [googleEvent(calls('x', undefined))]), {}, { messages });

    expect(message.content).toMatchObject([{ id: 'x_2' }, { id: 'answer1_2_2' }]);
  });
});

describe('a server', () => {
  it.each([
    [chunk([], {}, { finishReason: 'SAFETY' }), 'The model did not finish its answer (SAFETY)'],
    [
      chunk([], {}, { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Bad call' }),
      'Bad call (MALFORMED_FUNCTION_CALL)',
    ],
    [{ promptFeedback: { blockReason: 'OTHER' } }, 'The provider blocked the prompt (OTHER)'],
  ])('may end with %j', async (last, messageText) => {
    const { failure, message } = await outcomeOf(chunk([{ text: 'so' }]), last);

    expect(failure).toMatchObject({ code: 'model_error', message: messageText });
    expect(message).toMatchObject({ content: [{ text: 'so' }], usage: { input: 10, output: 5 } });
  });

  it('may fail with a status', async () => {
    const { failure } = await outcomeOf({ error: { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' } });

    expect(failure).toMatchObject({ code: 'rate_limited', status: 429, message: 'Quota (RESOURCE_EXHAUSTED)' });
  });

  it('may send parts that were not requested', async () => {
    const { message } = await outcomeOf(
      { unknown: true },
      chunk([{ executableCode: { code: '1' } }, {}], {}, { finishReason: 'STOP' }),
    );

    expect(message).toMatchObject({ stopReason: 'stop', content: [] });
  });
});
