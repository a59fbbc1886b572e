import { expect, it } from 'vitest';
import type { ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import { scriptedRequest } from '../../scripted/testing/call.ts';
import { thinkingOptions } from './thinking-options.ts';

const claude = 'us.anthropic.claude-opus-4-5-20251101-v1:0';
const adaptive = 'us.anthropic.claude-opus-5-5';

it.each<[string, string, ThinkingLevel, object]>([
  ['@ai-sdk/amazon-bedrock', claude, 'low', { bedrock: { reasoningConfig: { type: 'enabled', budgetTokens: 2048 } } }],
  [
    '@ai-sdk/amazon-bedrock',
    adaptive,
    'medium',
    { bedrock: { reasoningConfig: { type: 'adaptive', maxReasoningEffort: 'medium', display: 'summarized' } } },
  ],
  [
    '@ai-sdk/amazon-bedrock',
    'openai.gpt-oss-120b',
    'minimal',
    { bedrock: { reasoningConfig: { maxReasoningEffort: 'low' } } },
  ],
  ['@ai-sdk/amazon-bedrock', claude, 'off', {}],
  [
    '@ai-sdk/google-vertex/anthropic',
    'claude-sonnet-4-5@20250929',
    'high',
    { anthropic: { thinking: { type: 'enabled', budgetTokens: 16_384 } } },
  ],
  ['@ai-sdk/anthropic', 'claude-opus-5-5', 'high', { anthropic: { thinking: { type: 'adaptive' }, effort: 'high' } }],
  ['@ai-sdk/azure', 'gpt-6', 'high', { openai: { reasoningEffort: 'high', reasoningSummary: 'auto' } }],
  ['@ai-sdk/azure', 'gpt-6', 'off', {}],
  [
    '@ai-sdk/google-vertex',
    'gemini-3-flash',
    'low',
    { google: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'low' } } },
  ],
  [
    '@ai-sdk/google',
    'gemini-2.5-flash',
    'low',
    { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } } },
  ],
  ['@ai-sdk/mistral', 'mistral-medium-latest', 'medium', { mistral: { reasoningEffort: 'high' } }],
  ['@ai-sdk/mistral', 'mistral-medium-latest', 'off', { mistral: { reasoningEffort: 'none' } }],
  ['@ai-sdk/openai-compatible', 'm', 'low', { openaiCompatible: { reasoningEffort: 'low' } }],
  ['@somewhere/else', 'm', 'low', {}],
])('%s gets for %s at %s its own options', (packageName, id, thinkingLevel, expected) => {
  const model = { ...scriptedRequest().model, id, reasoning: true };

  expect(thinkingOptions(scriptedRequest({ model, thinkingLevel }), packageName)).toEqual(expected);
});

it('a model without thinking gets no options', () => {
  const model = { ...scriptedRequest().model, reasoning: false };

  expect(thinkingOptions(scriptedRequest({ model, thinkingLevel: 'high' }), '@ai-sdk/azure')).toEqual({});
});
