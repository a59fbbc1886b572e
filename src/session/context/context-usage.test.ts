import { describe, expect, it } from 'vitest';
import type { AgentMessage, Model } from '../../protocol/generated/vocabulary.ts';
import { assistant, block, prompt, result, usage } from '../testing/sample-messages.ts';
import { contextUsage, estimateTokens } from './context-usage.ts';

const model = { provider: 'tau', id: 'scripted', contextWindow: 1000 } as Model;
const tokens = (...messages: AgentMessage[]) => contextUsage(messages, model)?.tokens;

describe('context usage', () => {
  it('[G28] is unknown without a model or without a context window', () => {
    expect(contextUsage([], null)).toBeUndefined();
    expect(contextUsage([], { ...model, contextWindow: 0 })).toBeUndefined();
  });

  it('is zero at the start', () => {
    expect(contextUsage([], model)).toEqual({ tokens: 0, contextWindow: 1000, percent: 0 });
  });

  it('is the usage of the last assistant message plus an estimate for later messages', () => {
    const messages = [
      prompt('before'),
      assistant([block('hi')], { usage: usage(100, 20) }),
      prompt('12345678'),
      result('1', '123'),
    ];

    expect(contextUsage(messages, model)).toEqual({ tokens: 123, contextWindow: 1000, percent: 12.3 });
  });

  it('sums the counts of an assistant message without a total', () => {
    const { totalTokens: _, ...old } = usage(100, 20, { cacheRead: 3, cacheWrite: 4 });

    expect(tokens(assistant([], { usage: old }))).toBe(127);
  });

  it.each(['error', 'aborted'] as const)('ignores the usage of a message that ended with %s', (stopReason) => {
    const counted = assistant([block('ok')], { usage: usage(10, 5) });

    expect(tokens(counted, assistant([block('1234')], { usage: usage(500, 0), stopReason }))).toBe(16);
  });

  it('is an estimate when no usage was reported', () => {
    expect(tokens(prompt('1234'), assistant([block('12345')]))).toBe(3);
  });
});

describe('after a compaction', () => {
  const summary: AgentMessage = { role: 'compactionSummary', summary: '1234', tokensBefore: 900, timestamp: 50 };

  it('usage is unknown, whatever was reported before', () => {
    const kept = assistant([block('kept')], { usage: usage(900, 10), timestamp: 40 });

    expect(contextUsage([summary, kept, prompt('next', 60)], model)).toEqual({
      tokens: null,
      contextWindow: 1000,
      percent: null,
    });
  });

  it('the next assistant message reports it', () => {
    const kept = assistant([block('kept')], { usage: usage(900, 10), timestamp: 40 });
    const fresh = assistant([block('new')], { usage: usage(30, 2), timestamp: 70 });

    expect(tokens(summary, kept, prompt('next', 60), fresh)).toBe(32);
  });
});

describe('the estimate for one message', () => {
  it.each<[string, AgentMessage, number]>([
    ['text', prompt('12345'), 2],
    ['a plain string', { role: 'user', content: '1234', timestamp: 1 }, 1],
    ['an image', { role: 'user', content: [{ type: 'image', data: 'x', mimeType: 'image/png' }], timestamp: 1 }, 1200],
    ['thinking', assistant([{ type: 'thinking', thinking: '12345678' }]), 2],
    ['a call', assistant([{ type: 'toolCall', id: '1', name: 'read', arguments: { path: 'a' } }]), 4],
    ['a tool result', result('1', '1234'), 1],
    [
      'a command',
      { role: 'bashExecution', command: '12', output: '34', cancelled: false, truncated: false, timestamp: 1 },
      1,
    ],
    ['a summary', { role: 'branchSummary', summary: '12345678', fromId: 'x', timestamp: 1 }, 2],
    ['an empty text', prompt(''), 0],
  ])('of %s is one token per four characters', (_what, message, guess) => {
    expect(estimateTokens(message)).toBe(guess);
  });
});
