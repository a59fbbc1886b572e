import { describe, expect, it } from 'vitest';
import { type CallRecord, callToEnd, scriptedRequest } from '../../scripted/testing/call.ts';
import type { SdkStreamPart } from './language-model.ts';
import { AiSdkStreamDecoder } from './stream-decoder.ts';

const usage = {
  inputTokens: { total: 6, noCache: 3, cacheRead: 2, cacheWrite: 1 },
  outputTokens: { total: 5, text: 4, reasoning: 1 },
};
const finish = { type: 'finish', usage, finishReason: { unified: 'stop', raw: 'done' } };

/** The result of decoding these parts. */
const decode = (...parts: object[]): Promise<CallRecord> =>
  callToEnd(async function* (request, draft) {
    const decoder = new AiSdkStreamDecoder(request.model, draft);
    for (const part of parts) yield* decoder.decode(part as SdkStreamPart);
  }, scriptedRequest());

const types = ({ events }: CallRecord) => events.map(({ type }) => type).filter((type) => type !== 'usage');

describe('stream parts', () => {
  it('of interleaved calls yield one call after another', async () => {
    const decoded = await decode(
      { type: 'tool-input-start', id: 'a', toolName: 'read' },
      { type: 'tool-input-start', id: 'b', toolName: 'bash' },
      { type: 'tool-input-delta', id: 'b', delta: '{"x"' },
      { type: 'tool-input-delta', id: 'a', delta: '{"y":' },
      { type: 'tool-input-delta', id: 'b', delta: ':1}' },
      { type: 'tool-input-end', id: 'b' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'bash', input: '{"x":1}' },
      { type: 'text-delta', id: 'a', delta: 'Then' },
      { type: 'tool-input-delta', id: 'a', delta: '2}' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: '{"y":2}' },
      finish,
    );

    expect(decoded.message.content).toEqual([
      { type: 'toolCall', id: 'a', name: 'read', arguments: { y: 2 } },
      { type: 'toolCall', id: 'b', name: 'bash', arguments: { x: 1 } },
      { type: 'text', text: 'Then' },
    ]);
    expect(types(decoded)).toEqual([
      'toolcall_start',
      'toolcall_delta',
      'toolcall_delta',
      'toolcall_end',
      'toolcall_start',
      'toolcall_delta',
      'toolcall_delta',
      'toolcall_end',
      'text_start',
      'text_delta',
      'text_end',
      'end',
    ]);
    expect(decoded.message.stopReason).toBe('toolUse');
  });

  it('may be whole calls, with signatures, or calls without an end', async () => {
    const { message } = await decode(
      { type: 'tool-call', toolCallId: 'a', toolName: 'x', input: '{"p":1}', providerMetadata: { acme: { s: 1 } } },
      { type: 'tool-call', toolCallId: 'b', toolName: 'x', input: '', providerMetadata: { acme: { s: 2 } } },
      { type: 'tool-input-start', id: 'c', toolName: 'x' },
      { type: 'tool-input-delta', id: 'c', delta: '{"p":3}' },
      { type: 'tool-input-start', id: 'd', toolName: 'x' },
      finish,
    );

    expect(message.content).toEqual([
      { type: 'toolCall', id: 'a', name: 'x', arguments: { p: 1 }, thoughtSignature: '{"acme":{"s":1}}' },
      { type: 'toolCall', id: 'b', name: 'x', arguments: {}, thoughtSignature: '{"acme":{"s":2}}' },
      { type: 'toolCall', id: 'c', name: 'x', arguments: { p: 3 } },
      { type: 'toolCall', id: 'd', name: 'x', arguments: {} },
    ]);
  });

  it('keep the signatures of thinking and text, wherever they arrive', async () => {
    const { message } = await decode(
      { type: 'reasoning-start', id: '1', providerMetadata: { acme: { first: true } } },
      { type: 'reasoning-delta', id: '1', delta: 'Hm' },
      { type: 'reasoning-delta', id: '1', delta: '', providerMetadata: { acme: { seal: 'x' } } },
      { type: 'reasoning-end', id: '1' },
      { type: 'reasoning-start', id: '2', providerMetadata: { acme: { first: true } } },
      { type: 'reasoning-delta', id: '2', delta: 'Well' },
      { type: 'reasoning-start', id: '3' },
      { type: 'reasoning-delta', id: '3', delta: 'So' },
      { type: 'reasoning-end', id: '2', providerMetadata: { acme: { late: true } } },
      { type: 'reasoning-end', id: '3', providerMetadata: { acme: { seal: 'y' } } },
      { type: 'reasoning-start', id: '4', providerMetadata: { acme: { hidden: true } } },
      { type: 'reasoning-end', id: '4' },
      { type: 'reasoning-start', id: '5' },
      { type: 'reasoning-end', id: '5' },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'One' },
      { type: 'text-end', id: '1', providerMetadata: { acme: { item: 1 } } },
      { type: 'text-start', id: '2' },
      { type: 'text-delta', id: '2', delta: 'Two' },
      finish,
    );

    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'Hm', thinkingSignature: '{"acme":{"seal":"x"}}' },
      { type: 'thinking', thinking: 'Well', thinkingSignature: '{"acme":{"first":true}}' },
      { type: 'thinking', thinking: 'So', thinkingSignature: '{"acme":{"seal":"y"}}' },
      { type: 'thinking', thinking: '', thinkingSignature: '{"acme":{"hidden":true}}', redacted: true },
      { type: 'text', text: 'One', textSignature: '{"acme":{"item":1}}' },
      { type: 'text', text: 'Two' },
    ]);
  });

  it('of unsupported types are ignored', async () => {
    const { message } = await decode(
      { type: 'raw', rawValue: {} },
      { type: 'tool-input-start', id: 's', toolName: 'search', providerExecuted: true },
      { type: 'tool-input-delta', id: 's', delta: '{}' },
      { type: 'tool-call', toolCallId: 's', toolName: 'search', input: '{}', providerExecuted: true },
      { type: 'tool-result', toolCallId: 's', toolName: 'search', result: 'x' },
      { type: 'source', id: '1', sourceType: 'url', url: 'http://127.0.0.1' },
      { type: 'text-delta', id: '1', delta: 'Yes' },
      { type: 'news-of-tomorrow', id: '1' },
      finish,
    );

    expect(message.content).toEqual([{ type: 'text', text: 'Yes' }]);
  });

  it.each([
    [usage, { input: 3, output: 5, cacheRead: 2, cacheWrite: 1, reasoning: 1 }],
    [
      { inputTokens: { total: 6, cacheRead: 2 }, outputTokens: { text: 4 } },
      { input: 4, output: 4, cacheRead: 2 },
    ],
    [
      { inputTokens: 6, outputTokens: 5, totalTokens: 11, cachedInputTokens: 2, reasoningTokens: 1 },
      { input: 4, output: 5, cacheRead: 2, reasoning: 1 },
    ],
    [
      { inputTokens: 6, outputTokens: 5, totalTokens: 11, cachedInputTokens: 9 },
      { input: 6, cacheRead: 9 },
    ],
    [
      { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined },
      { input: 0, output: 0 },
    ],
    [
      { inputTokens: {}, outputTokens: {} },
      { input: 0, output: 0 },
    ],
  ])('yield the usage: %j', async (reported, counts) => {
    const { message } = await decode({ ...finish, usage: reported });

    expect(message.usage).toMatchObject(counts);
  });

  it.each([
    [
      { unified: 'length', raw: 'MAX' },
      { stopReason: 'length', rawStopReason: 'MAX' },
    ],
    [
      { unified: 'tool-calls', raw: undefined },
      { stopReason: 'toolUse', rawStopReason: 'tool-calls' },
    ],
    [
      { unified: 'other', raw: 'pause' },
      { stopReason: 'stop', rawStopReason: 'pause' },
    ],
    ['other', { stopReason: 'stop', rawStopReason: 'other' }],
    ['length', { stopReason: 'length' }],
    [
      { unified: 'other', raw: undefined },
      { stopReason: 'error', errorCode: 'connection_lost' },
    ],
    ['unknown', { stopReason: 'error', errorCode: 'connection_lost' }],
    [
      { unified: 'content-filter', raw: 'SAFETY' },
      { stopReason: 'error', errorMessage: 'The provider withheld the answer (SAFETY)', usage: { input: 3 } },
    ],
    ['error', { stopReason: 'error', errorCode: 'model_error' }],
  ])('yield the end: %j', async (finishReason, ending) => {
    const { message } = await decode({ ...finish, finishReason });

    expect(message).toMatchObject(ending);
  });
});
