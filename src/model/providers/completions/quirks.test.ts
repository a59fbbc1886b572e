import { describe, expect, it } from 'vitest';
import { quirksOf } from './quirks.ts';
import { sampleModel } from './testing/sample.ts';

const quirksAt = (baseUrl: string, own: Parameters<typeof sampleModel>[0] = {}) =>
  quirksOf(sampleModel({ provider: 'mine', baseUrl, ...own }));

describe('the quirks of a server', () => {
  it.each([
    ['https://api.openai.com/v1', { supportsStore: true, maxTokensField: 'max_completion_tokens' }],
    ['https://mine.openai.azure.com/openai/v1', { supportsStore: true, supportsPromptCacheKey: true }],
    ['https://openrouter.ai/api/v1', { thinkingFormat: 'openrouter', supportsStore: false }],
    ['https://api.deepseek.com', { thinkingFormat: 'deepseek' }],
    ['http://127.0.0.1:11434/v1', { supportsStore: false, supportsDeveloperRole: false, maxTokensField: 'max_tokens' }],
    ['https://notopenai.com/v1', { supportsStore: false }],
    ['https://api.openai.com.example/v1', { supportsStore: false }],
    ['no address', { supportsStore: false }],
  ])('at %s are known', (baseUrl, expected) => {
    expect(quirksAt(baseUrl)).toMatchObject(expected);
  });

  it('follow the provider name first', () => {
    expect(quirksAt('http://127.0.0.1:4000', { provider: 'openai' })).toMatchObject({ supportsStore: true });
    expect(quirksAt('https://api.openai.com/v1', { provider: 'zai' })).toMatchObject({ thinkingFormat: 'zai' });
  });

  it('may be those of one model', () => {
    const own = { provider: 'groq', id: 'qwen/qwen3-32b' };

    expect(quirksAt('', own).reasoningEffortMap).toMatchObject({ high: 'default' });
    expect(quirksAt('', { provider: 'groq' }).reasoningEffortMap).toEqual({ minimal: 'low' });
    expect(quirksAt('https://gateway.example', { id: 'openai/gpt-5' }).maxTokensField).toBe('max_completion_tokens');
  });
});

describe('the user settings of a server', () => {
  it('take precedence', () => {
    const compat = { supportsStore: false, maxTokensField: 'max_tokens', openRouterRouting: { only: ['x'] } };

    expect(quirksAt('https://api.openai.com/v1', { compat })).toMatchObject(compat);
  });

  it.each<[string, unknown]>([
    ['supportsStore', 'no'],
    ['supportsStore', null],
    ['maxTokensField', 'tokens'],
    ['thinkingFormat', 'shouting'],
    ['reasoningEffortMap', { low: 1 }],
    ['reasoningEffortMap', ['low']],
    ['cacheControlFormat', true],
    ['openRouterRouting', 'x'],
  ])('of the wrong type are ignored: %s = %j', (name, value) => {
    const compat = { [name]: value };

    expect(quirksAt('https://api.openai.com/v1', { compat })).toEqual(quirksAt('https://api.openai.com/v1'));
  });
});
