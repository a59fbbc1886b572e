import { describe, expect, it } from 'vitest';
import {
  type AdapterUnderTest,
  adapterContract,
  callOnce,
  withEvents,
} from '../../../../test/support/providers/adapter-contract.ts';
import { numbered, type ResponsesEvent, responsesApi } from '../../../../test/support/providers/openai-responses.ts';
import { modelNamed } from '../../scripted/testing/call.ts';
import { openaiResponses } from './adapter.ts';

const model = {
  ...modelNamed('scripted'),
  id: 'double',
  api: 'openai-responses',
  provider: 'openai',
  cost: { input: 2, output: 8, cacheRead: 0.5, cacheWrite: 0 },
};
const subject: AdapterUnderTest = { adapter: openaiResponses, api: responsesApi, model };

adapterContract(subject);

describe('a response', () => {
  it('is requested with the key', async () => {
    const { request } = await callOnce(subject, { text: 'x' });

    expect(request).toMatchObject({ path: '/responses', headers: { authorization: 'Bearer key' } });
    expect(request.body).toMatchObject({ model: 'double', stream: true, store: false });
  });

  it('has text, thinking and calls, with their signatures', async () => {
    const { message, events } = await callOnce(subject, {
      thinking: 'First this.\n\nThen that.',
      text: 'Hello there',
      calls: [
        { id: 'call_a', name: 'read', arguments: { path: 'a long name.txt' } },
        { id: 'call_b', name: 'ls', arguments: {} },
      ],
      usage: { input: 100, output: 50, cacheRead: 1000 },
    });

    const summary = ['First this.', 'Then that.'].map((text) => ({ type: 'summary_text', text }));
    const item = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'secret' };
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'First this.\n\nThen that.', thinkingSignature: JSON.stringify(item) },
      { type: 'text', text: 'Hello there', textSignature: '{"v":1,"id":"msg_1"}' },
      { type: 'toolCall', id: 'call_a|fc_call_a', name: 'read', arguments: { path: 'a long name.txt' } },
      { type: 'toolCall', id: 'call_b|fc_call_b', name: 'ls', arguments: {} },
    ]);
    expect(events.filter(({ type }) => type === 'toolcall_delta').length).toBeGreaterThan(4);
    expect(message).toMatchObject({
      stopReason: 'toolUse',
      rawStopReason: 'completed',
      responseId: 'resp_1',
      responseModel: 'double-2025-01-01',
    });
  });

  it('counts input, cached, output and thinking tokens', async () => {
    const { message, events } = await callOnce(subject, {
      thinking: 'hm',
      usage: { input: 100, output: 50, cacheRead: 1000 },
    });

    expect(message.usage).toMatchObject({ input: 100, cacheRead: 1000, output: 50, reasoning: 2, totalTokens: 1150 });
    expect(message.usage.cost.total).toBeCloseTo((100 * 2 + 50 * 8 + 1000 * 0.5) / 1e6);
    expect(events.filter(({ type }) => type === 'usage')).toEqual([{ type: 'usage', usage: message.usage }]);
  });

  it('is replayed unchanged', async () => {
    const { message } = await callOnce(subject, {
      thinking: 'hm',
      text: 'Yes',
      calls: [{ id: 'call_a', name: 'ls', arguments: {} }],
    });

    const { request } = await callOnce(subject, { text: 'x' }, { messages: [{ ...message, timestamp: 0 }] });

    expect(request.body.input).toMatchObject([
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'secret', summary: [{ type: 'summary_text', text: 'hm' }] },
      { type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: 'Yes' }] },
      { type: 'function_call', id: 'fc_call_a', call_id: 'call_a', name: 'ls', arguments: '{}' },
    ]);
  });

  it('that exceeds the limit stops for that reason', async () => {
    const { message } = await callOnce(subject, { text: 'and so', stop: 'length' });

    expect(message).toMatchObject({ stopReason: 'length', rawStopReason: 'max_output_tokens' });
  });
});

const done = { type: 'response.completed', response: { status: 'completed' } };
const call = (id: string) => ({ type: 'function_call', id: `fc_${id}`, call_id: id, name: 'read' });
const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item });
const finished = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item });
const argument = (output_index: number, delta: string) => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
});

/** The outcome of exactly these events. */
const outcomeOf = (...events: ResponsesEvent[]) => callOnce(withEvents(subject, numbered(events)), {});

describe('a server', () => {
  it('may interleave several items', async () => {
    const { message, events } = await outcomeOf(
      added(0, call('a')),
      added(1, call('b')),
      argument(1, '{"n":'),
      argument(0, '{"n":'),
      added(2, call('c')),
      argument(1, '2}'),
      finished(1, { ...call('b'), arguments: '{"n":2}' }),
      argument(2, '{"n":3}'),
      argument(0, '1}'),
      finished(0, { ...call('a'), arguments: '{"n":1}' }),
      done,
    );

    expect(message.content).toMatchObject([
      { id: 'a|fc_a', arguments: { n: 1 } },
      { id: 'b|fc_b', arguments: { n: 2 } },
      { id: 'c|fc_c', arguments: { n: 3 } },
    ]);
    const indexes = events.flatMap((event) => ('contentIndex' in event ? [event.contentIndex] : []));
    expect(indexes).toEqual([...indexes].sort());
  });

  it('may send items only when they are complete', async () => {
    const reasoningItem = { type: 'reasoning', id: 'rs', summary: [{ text: 'hm' }], encrypted_content: 'x' };
    const { message } = await outcomeOf(
      finished(0, reasoningItem),
      finished(1, { type: 'message', id: 'm', phase: 'commentary', content: [{ text: 'Let me ' }, { text: 'see' }] }),
      finished(2, { ...call('a'), arguments: '{"n":1}' }),
      done,
    );

    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'hm', thinkingSignature: JSON.stringify(reasoningItem) },
      { type: 'text', text: 'Let me see', textSignature: '{"v":1,"id":"m","phase":"commentary"}' },
      { type: 'toolCall', id: 'a|fc_a', name: 'read', arguments: { n: 1 } },
    ]);
  });

  it('may hide its thinking', async () => {
    const reasoningItem = { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'x' };
    const { message } = await outcomeOf(added(0, reasoningItem), finished(0, reasoningItem), done);

    expect(message.content).toEqual([
      { type: 'thinking', thinking: '', thinkingSignature: JSON.stringify(reasoningItem), redacted: true },
    ]);
  });

  it('may send thinking that cannot be replayed', async () => {
    const { message } = await outcomeOf(
      added(0, { type: 'reasoning', id: 'rs' }),
      { type: 'response.reasoning_text.delta', output_index: 0, delta: 'hm' },
      finished(0, { type: 'reasoning', id: 'rs', content: [{ type: 'reasoning_text', text: 'hm' }] }),
      done,
    );

    expect(message.content).toEqual([{ type: 'thinking', thinking: 'hm' }]);
  });

  it('may send empty deltas and empty parts of its thinking', async () => {
    const part = { type: 'response.reasoning_summary_part.added', output_index: 0 };
    const thinking = (delta: string) => ({ type: 'response.reasoning_summary_text.delta', output_index: 0, delta });
    const { message } = await outcomeOf(
      added(0, { type: 'reasoning', id: 'rs' }),
      ...[part, thinking(''), part, thinking('hello'), part, thinking(''), part, thinking('there'), part],
      finished(0, { type: 'reasoning', id: 'rs' }),
      done,
    );

    expect(message.content).toEqual([{ type: 'thinking', thinking: 'hello\n\nthere' }]);
  });

  it('may refuse in text', async () => {
    const { message } = await outcomeOf(
      added(0, { type: 'message', id: 'm' }),
      { type: 'response.refusal.delta', output_index: 0, delta: 'I would rather not' },
      done,
    );

    expect(message).toMatchObject({ stopReason: 'stop', content: [{ type: 'text', text: 'I would rather not' }] });
  });

  it('may send items that were not requested', async () => {
    const { message } = await outcomeOf(
      { type: 'response.unheard_of', output_index: 0, delta: 'x' },
      added(0, { type: 'web_search_call', id: 'ws' }),
      finished(0, { type: 'web_search_call', id: 'ws' }),
      done,
    );

    expect(message).toMatchObject({ stopReason: 'stop', content: [] });
  });

  it('may continue after the end', async () => {
    const events = [...numbered([done]), { data: '[DONE]' }];

    const { message } = await callOnce(withEvents(subject, events), {});

    expect(message).toMatchObject({ stopReason: 'stop', content: [] });
  });

  it('may omit which limit it reached', async () => {
    const { message } = await outcomeOf({ type: 'response.incomplete', response: {} });

    expect(message).toMatchObject({ stopReason: 'length', rawStopReason: 'incomplete' });
  });

  const usage = { input_tokens: 7, output_tokens: 1 };

  it.each([
    [
      'response.failed',
      { status: 'failed', error: { code: 'server_error', message: 'It broke' }, usage },
      { code: 'model_error', message: 'It broke (server_error)' },
    ],
    [
      'response.failed',
      { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Slow down' }, usage },
      { code: 'rate_limited', message: 'Slow down (rate_limit_exceeded)' },
    ],
    [
      'response.incomplete',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' }, usage },
      { code: 'model_error', message: 'The answer was cut short: content_filter' },
    ],
  ])('may end with %s %j', async (type, response, expected) => {
    const { failure, message } = await outcomeOf({ type, response });

    expect(failure).toMatchObject(expected);
    expect(message.usage).toMatchObject({ input: 7, output: 1 });
  });

  it('may nest its error', async () => {
    const { failure } = await outcomeOf({
      type: 'error',
      error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Too long' },
    });

    expect(failure).toMatchObject({ code: 'context_overflow', message: 'Too long (context_length_exceeded)' });
  });
});
