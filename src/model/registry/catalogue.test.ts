import { expect, test } from 'vitest';
import { hasOwnAddress } from '../../store/models-file.ts';
import { catalogue } from './catalogue.ts';
import { defaultIds, defaultModel, preferredProviders } from './default-models.ts';

const all = catalogue.providers().flatMap((provider) => catalogue.models(provider));

test('every provider has models with all that an adapter needs', () => {
  expect(catalogue.providers()).toEqual(expect.arrayContaining(['anthropic', 'google', 'openai', 'openrouter']));
  const apis = [
    'anthropic-messages',
    'azure-openai-responses',
    'bedrock-converse-stream',
    'google-generative-ai',
    'google-vertex',
    'mistral-conversations',
    'openai-codex-responses',
    'openai-completions',
    'openai-responses',
  ];
  expect([...new Set(all.map(({ api }) => api))].sort()).toEqual(apis);
  for (const provider of catalogue.providers()) {
    const models = catalogue.models(provider);
    expect(models.length, provider).toBeGreaterThan(0);
    expect(new Set(models.map(({ id }) => id)).size, provider).toBe(models.length);
  }
  for (const model of all) {
    if (hasOwnAddress(model.api) || model.provider === 'azure') expect(model.baseUrl).toBeUndefined();
    else expect(model.baseUrl).toMatch(/^https:\/\//);
    expect(model.id).not.toMatch(/\p{Cc}|[:-]batch$/u);
    expect(model.contextWindow).toBeGreaterThan(0);
    expect(model.maxTokens).toBeGreaterThan(0);
    expect(model).toMatchObject({
      supportsImages: model.input.includes('image'),
      supportsTools: true,
      thinking: model.reasoning,
    });
  }
});

test('the shared fields of a server are in each of its models', () => {
  for (const { compat } of catalogue.models('anthropic')) expect(compat).toMatchObject({ supportsStrictTools: true });
  for (const { headers } of catalogue.models('nvidia')) expect(headers).toEqual({ 'NVCF-POLL-SECONDS': '3600' });
});

test('a provider is read once', () => {
  expect(catalogue.models('openai')).toBe(catalogue.models('openai'));
});

test('an unknown provider has no models, even if its name is a path', () => {
  for (const name of ['nobody', '', '../catalogue/openai', '__proto__', 'README.md']) {
    expect(catalogue.models(name)).toEqual([]);
  }
});

test('every provider has a default, and every default is in the catalogue', () => {
  expect([...preferredProviders].sort()).toEqual(catalogue.providers());
  for (const [provider, id] of Object.entries(defaultIds)) {
    expect(defaultModel(provider, all)).toMatchObject({ provider, id, reasoning: true });
  }
});

test('a provider without a default uses its first reasoning model, else its first', () => {
  const [first, second] = catalogue.models('groq').map((model) => ({ ...model, provider: 'own' }));
  if (!first || !second) throw new Error('groq has no models');
  const thinking = { ...second, reasoning: true };
  expect(defaultModel('own', [first, thinking])).toBe(thinking);
  expect(defaultModel('own', [first])).toBe(first);
  expect(defaultModel('own', [])).toBeUndefined();
});
