import { describe, expect, it } from 'vitest';
import type { Model, ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { ModelMessage, ModelRequest } from '../../request.ts';
import { anthropicBody } from './body.ts';
import { anthropicRequest, assistant, call, claude, result, text, user } from './testing/conversation.ts';

const named = (id: string, own: Partial<Model> = {}): Model => ({ ...claude, id, ...own });

function paramsFor(thinkingLevel: ThinkingLevel, own: Partial<ModelRequest> = {}) {
  const { max_tokens, thinking, output_config } = anthropicBody(anthropicRequest({ thinkingLevel, ...own }));
  return { max_tokens, thinking, output_config };
}

describe('a budget', () => {
  const budget = (max_tokens: number, budget_tokens: number) => ({
    max_tokens,
    thinking: { type: 'enabled', budget_tokens },
  });

  it.each<[ThinkingLevel, number]>([
    ['minimal', 1024],
    ['low', 2048],
    ['medium', 8192],
    ['high', 16_384],
    ['xhigh', 16_384],
    ['max', 16_384],
  ])('for %s is %i tokens', (level, tokens) => {
    const model = named('claude-sonnet-4-5', { thinkingLevelMap: { xhigh: 'xhigh', max: 'max' } });

    expect(paramsFor(level, { model })).toEqual(budget(64_000, tokens));
  });

  it('is added to the requested output, up to the model limit', () => {
    expect(paramsFor('medium', { maxTokens: 4000 })).toEqual(budget(12_192, 8192));
    expect(paramsFor('medium', { maxTokens: 60_000 })).toEqual(budget(64_000, 8192));
  });

  it('follows the settings of the user', () => {
    expect(paramsFor('low', { thinkingBudgets: { low: 5000, high: 1 } })).toEqual(budget(64_000, 5000));
    expect(paramsFor('high', { thinkingBudgets: { low: 5000, high: 1 } })).toEqual(budget(64_000, 1024));
  });

  it('leaves room for text', () => {
    expect(paramsFor('high', { model: named('claude-sonnet-4-5', { maxTokens: 8192 }) })).toEqual(budget(8192, 7168));
    expect(paramsFor('high', { model: named('claude-sonnet-4-5', { maxTokens: 2048 }) })).toEqual(budget(2048, 1024));
  });

  it('is omitted without room for both', () => {
    expect(paramsFor('high', { model: named('claude-sonnet-4-5', { maxTokens: 2047 }) })).toEqual({ max_tokens: 2047 });
  });
});

describe('a budget in the middle of a tool turn', () => {
  const thinkingBlock = { type: 'thinking' as const, thinking: 'hm', thinkingSignature: 'seal' };
  const thinks = (...messages: ModelMessage[]) => paramsFor('low', { messages }).thinking !== undefined;

  it('is kept if the turn began with thinking', () => {
    const started = [user('go'), assistant([thinkingBlock, call('a')]), result('a', '1')];

    expect(thinks(...started)).toBe(true);
    expect(thinks(...started, assistant([call('b')]), result('b', '2'))).toBe(true);
  });

  it('is omitted if the turn began without thinking', () => {
    expect(thinks(user('go'), assistant([call('a')]), result('a', '1'))).toBe(false);
    expect(thinks(assistant([thinkingBlock, call('a')], { model: 'other' }), result('a', '1'))).toBe(false);
  });

  it('returns with the next prompt', () => {
    expect(thinks(user('go'), assistant([call('a')]), result('a', '1'), assistant([text('done')]), user('on'))).toBe(
      true,
    );
  });

  it('does not concern models with adaptive thinking', () => {
    const messages = [user('go'), assistant([call('a')]), result('a', '1')];

    expect(paramsFor('low', { model: named('claude-opus-4-6'), messages }).thinking).toBeDefined();
  });
});

describe('effort', () => {
  const effort = (levelName: string) => ({
    max_tokens: 64_000,
    thinking: { type: 'adaptive', display: 'summarized' },
    output_config: { effort: levelName },
  });

  it.each<[ThinkingLevel, string]>([
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['xhigh', 'high'],
  ])('for %s is %s', (level, levelName) => {
    expect(paramsFor(level, { model: named('claude-opus-4-6') })).toEqual(effort(levelName));
  });

  it('has the name in the level map of the model', () => {
    const model = named('claude-opus-4-7', {
      thinkingLevelMap: { low: 'medium', xhigh: 'xhigh', max: 'max', high: null },
    });

    expect(paramsFor('low', { model })).toEqual(effort('medium'));
    expect(paramsFor('max', { model })).toEqual(effort('max'));
    expect(paramsFor('high', { model })).toEqual(effort('xhigh'));
  });

  it('does not change the output limit', () => {
    expect(paramsFor('high', { model: named('claude-opus-4-6'), maxTokens: 900 })).toEqual({
      ...effort('high'),
      max_tokens: 900,
    });
  });

  it.each([
    'claude-opus-4-6',
    'claude-opus-4.6',
    'claude-sonnet-4-6-20260217',
    'anthropic/claude-opus-4.7',
    'anthropic.claude-opus-4-10-v1:0',
    'claude-opus-5',
    'claude-opus-5-20261001',
    'claude-haiku-5-5',
  ])('is used for %s', (id) => {
    expect(paramsFor('high', { model: named(id) }).thinking?.type).toBe('adaptive');
  });

  it.each([
    'claude-3-7-sonnet-20250219',
    'claude-sonnet-4-20250514',
    'claude-opus-4-1-20250805',
    'claude-haiku-4-5',
    'kimi-k2',
  ])('is not used for %s', (id) => {
    expect(paramsFor('high', { model: named(id) }).thinking?.type).toBe('enabled');
  });

  it('is used on the request of the user', () => {
    const taken = (id: string, forceAdaptiveThinking: boolean) =>
      paramsFor('high', { model: named(id, { compat: { forceAdaptiveThinking } }) }).thinking?.type;

    expect(taken('kimi-k2', true)).toBe('adaptive');
    expect(taken('claude-opus-4-6', false)).toBe('enabled');
  });
});

describe('no thinking', () => {
  it('sends no thinking fields', () => {
    expect(paramsFor('off')).toEqual({ max_tokens: 64_000 });
    expect(paramsFor('off', { model: named('claude-opus-4-6'), maxTokens: 100 })).toEqual({ max_tokens: 100 });
  });

  it('is the only level of some models', () => {
    expect(paramsFor('high', { model: named('claude-opus-4-6', { reasoning: false }) })).toEqual({
      max_tokens: 64_000,
    });
  });

  it('is unavailable for a model that always thinks', () => {
    const model = named('claude-opus-5-5', { thinkingLevelMap: { off: null, minimal: null } });

    expect(paramsFor('off', { model }).output_config).toEqual({ effort: 'low' });
  });
});
