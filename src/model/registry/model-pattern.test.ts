import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { findByPattern, matchPatterns } from './model-pattern.ts';

const model = (provider: string, id: string, own: Partial<Model> = {}): Model => ({
  id,
  name: id,
  api: 'openai-completions',
  provider,
  baseUrl: `https://${provider}.example`,
  reasoning: true,
  input: ['text'],
  contextWindow: 100_000,
  maxTokens: 10_000,
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  ...own,
});

const models = [
  model('anthropic', 'claude-opus-5-5'),
  model('anthropic', 'claude-sonnet-4-5', { name: 'Claude Sonnet 4.5 (newest)' }),
  model('anthropic', 'claude-sonnet-4-5-20250929'),
  model('anthropic', 'claude-sonnet-5'),
  model('anthropic', 'claude-relic-20240101'),
  model('anthropic', 'claude-relic-20240601'),
  model('openai', 'gpt-5'),
  model('openai', 'gpt-5-mini'),
  model('groq', 'openai/gpt-oss-120b'),
  model('openrouter', 'openai/gpt-5'),
  model('openrouter', 'qwen/coder:free'),
];
const providers = ['anthropic', 'openai', 'groq', 'openrouter', 'empty'];

const found = (pattern: string, provider?: string) => {
  const { model, ...rest } = findByPattern({ pattern, provider, models, providers });
  return { model: `${model.provider}/${model.id}`, ...rest };
};

test.each([
  ['gpt-5', 'openai/gpt-5'],
  ['GPT-5', 'openai/gpt-5'],
  ['openai/gpt-5', 'openai/gpt-5'],
  ['OpenAI/GPT-5', 'openai/gpt-5'],
  ['openrouter/openai/gpt-5', 'openrouter/openai/gpt-5'],
  ['openai/gpt-oss-120b', 'groq/openai/gpt-oss-120b'],
  ['openai/mini', 'openai/gpt-5-mini'],
  ['qwen/coder:free', 'openrouter/qwen/coder:free'],
  ['sonnet', 'anthropic/claude-sonnet-5'],
  ['sonnet-4', 'anthropic/claude-sonnet-4-5'],
  ['(newest)', 'anthropic/claude-sonnet-4-5'],
  ['relic', 'anthropic/claude-relic-20240601'],
  ['claude-relic-20240101', 'anthropic/claude-relic-20240101'],
])('%s means %s', (pattern, name) => {
  expect(found(pattern)).toEqual({ model: name });
});

test('a given provider restricts the pattern to it', () => {
  expect(found('gpt-5', 'OPENROUTER')).toEqual({ model: 'openrouter/openai/gpt-5' });
  expect(found('openai/gpt-5', 'openai')).toEqual({ model: 'openai/gpt-5' });
  expect(found('openai/gpt-5', 'openrouter')).toEqual({ model: 'openrouter/openai/gpt-5' });
});

test('a thinking level may follow the pattern', () => {
  expect(found('sonnet:high')).toEqual({ model: 'anthropic/claude-sonnet-5', thinkingLevel: 'high' });
  expect(found('openai/gpt-5:off')).toEqual({ model: 'openai/gpt-5', thinkingLevel: 'off' });
  expect(found('qwen/coder:free:max')).toEqual({ model: 'openrouter/qwen/coder:free', thinkingLevel: 'max' });
});

test('an unknown id of a known provider is used as it stands', () => {
  const { model, ...rest } = findByPattern({ pattern: 'anthropic/claude-next:low', models, providers });
  expect(model).toEqual({ ...models[0], id: 'claude-next', name: 'claude-next' });
  expect(rest).toEqual({
    thinkingLevel: 'low',
    warning: 'Model "claude-next" not found for provider "anthropic". Using custom model id.',
  });
  expect(found('claude-next', 'groq').model).toBe('groq/claude-next');
});

test.each(['nothing', 'sonnet:loud', 'unknown/gpt-5', 'anthropic/', 'empty/model', '', ':high'])(
  '%j is rejected',
  (pattern) => {
    expect(() => found(pattern)).toThrow(
      expect.objectContaining({
        code: 'model_not_found',
        message: `Model "${pattern}" not found. Use --list-models to see available models.`,
      }),
    );
  },
);

test('an unknown provider is rejected', () => {
  expect(() => found('gpt-5', 'nobody')).toThrow(
    expect.objectContaining({
      code: 'model_not_found',
      message: 'Unknown provider "nobody". Use --list-models to see available providers/models.',
    }),
  );
});

const names = (patterns: string[]) =>
  matchPatterns(patterns, models).choices.map(({ model, thinkingLevel }) =>
    [`${model.provider}/${model.id}`, ...(thinkingLevel ? [thinkingLevel] : [])].join(' '),
  );

test('a scope keeps the order of its patterns and lists each model once', () => {
  expect(names(['openai/*', 'sonnet:high', '*SONNET-[!4]*:low', '*-mini'])).toEqual([
    'openai/gpt-5',
    'openai/gpt-5-mini',
    'groq/openai/gpt-oss-120b',
    'openrouter/openai/gpt-5',
    'anthropic/claude-sonnet-5 high',
  ]);
  expect(names(['anthropic/*RELIC*:low', 'gpt-5'])).toEqual([
    'anthropic/claude-relic-20240101 low',
    'anthropic/claude-relic-20240601 low',
    'openai/gpt-5',
  ]);
});

test('an invalid pattern of a scope yields a warning', () => {
  expect(matchPatterns(['sonnet:loud', 'nothing', 'nothing*'], models)).toEqual({
    choices: [{ model: expect.objectContaining({ id: 'claude-sonnet-5' }) }],
    warnings: [
      'Invalid thinking level "loud" in pattern "sonnet:loud". Using default instead.',
      'No models match pattern "nothing".',
      'No models match pattern "nothing*".',
    ],
  });
});

const anyModels = fc.uniqueArray(
  fc
    .record({
      provider: fc.constantFrom('one', 'two', 'One', 'a'),
      id: fc.stringMatching(/^[a-cA-C/:.-]{1,6}$|^a:high$|^one\/a$/),
    })
    .map(({ provider, id }) => model(provider, id)),
  { selector: ({ provider, id }) => `${provider}/${id}`, minLength: 1 },
);

test('an exact provider and id always matches itself', () => {
  fc.assert(
    fc.property(anyModels, (models) => {
      for (const model of models) {
        const found = findByPattern({ pattern: `${model.provider}/${model.id}`, models, providers: ['one', 'a'] });
        expect(found).toEqual({ model });
      }
    }),
  );
});

test('a scope has the order of its patterns and no duplicates', () => {
  fc.assert(
    fc.property(anyModels, fc.array(fc.nat(), { maxLength: 20 }), (models, indexes) => {
      const chosen = indexes.flatMap((index) => models[index % models.length] ?? []);
      const { choices, warnings } = matchPatterns(
        chosen.map(({ provider, id }) => `${provider}/${id}`),
        models,
      );
      expect(choices).toEqual([...new Set(chosen)].map((model) => ({ model })));
      expect(warnings).toEqual([]);
    }),
  );
});

test('a scope of everything is the list itself', () => {
  fc.assert(
    fc.property(anyModels, (models) => {
      expect(matchPatterns(['**'], models).choices.map(({ model }) => model)).toEqual(models);
    }),
  );
});
