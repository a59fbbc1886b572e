import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  builtIn,
  catalogueModels,
  customProvider,
  modelNames,
  openUserModels,
  storedKey,
} from './testing/user-files.ts';

describe('the known models', () => {
  it('are those of the catalogue if the user has no files', () => {
    const { list, auth } = openUserModels();

    expect(list.providers()).toEqual(['anthropic', 'openai']);
    expect(modelNames(list.inPreferenceOrder())).toEqual(['anthropic/opus', 'anthropic/haiku', 'openai/gpt']);
    expect(list.find('openai', 'gpt')).toBe(catalogueModels['openai']?.[0]);
    expect([auth.usableModels(), [...list.problems, ...auth.problems], auth.secretNames]).toEqual([[], [], []]);
  });

  it('of the user follow them, with the defaults of pi', () => {
    const { list } = openUserModels({
      models: { mine: customProvider, openai: { ...customProvider, models: [{ id: 'more' }] } },
    });

    expect(modelNames(list.inPreferenceOrder())).toEqual([
      'anthropic/opus',
      'anthropic/haiku',
      'openai/gpt',
      'openai/more',
      'mine/llama',
    ]);
    expect(list.find('mine', 'llama')).toEqual({
      id: 'llama',
      name: 'llama',
      api: 'openai-completions',
      provider: 'mine',
      baseUrl: 'http://localhost:1/v1',
      reasoning: false,
      thinking: false,
      input: ['text'],
      supportsImages: false,
      supportsTools: true,
      contextWindow: 128_000,
      maxTokens: 16_384,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
  });

  it('of the user override the fields of their provider', () => {
    const ownFields = {
      name: 'Llama',
      api: 'anthropic-messages',
      baseUrl: 'https://elsewhere.test',
      reasoning: true,
      input: ['text', 'image'],
      cost: { output: 9 },
      contextWindow: 5,
      maxTokens: 4,
      compat: { b: 2 },
      thinkingLevelMap: { off: null },
    };
    const { list } = openUserModels({
      models: { mine: { ...customProvider, compat: { a: 1, b: 1 }, models: [{ id: 'llama', ...ownFields }] } },
    });

    expect(list.find('mine', 'llama')).toEqual({
      ...ownFields,
      id: 'llama',
      provider: 'mine',
      thinking: true,
      supportsImages: true,
      supportsTools: true,
      cost: { input: 0, output: 9, cacheRead: 0, cacheWrite: 0 },
      compat: { a: 1, b: 2 },
    });
  });

  it('of the user replace built-in ones with the same id', () => {
    const { list } = openUserModels({ models: { anthropic: { ...customProvider, models: [{ id: 'opus' }] } } });

    expect(modelNames(list.models('anthropic'))).toEqual(['anthropic/opus', 'anthropic/haiku']);
    expect(list.find('anthropic', 'opus')).toMatchObject({ name: 'opus', api: 'openai-completions' });
  });

  it('are changed by the provider settings, then by the model settings', () => {
    const change = {
      name: 'Mine',
      reasoning: true,
      input: ['text', 'image'],
      cost: { input: 7 },
      maxTokens: 50,
      compat: { routing: { sort: 'y' } },
      headers: { 'x-secret': 'sk-secret' },
    };
    const { list } = openUserModels({
      models: {
        openai: {
          baseUrl: 'https://proxy.test//',
          compat: { store: false, more: 1 },
          modelOverrides: { gpt: change, 'no-such-model': { name: 'X' } },
        },
      },
    });

    expect(list.inPreferenceOrder().filter(({ provider }) => provider === 'openai')).toEqual([
      builtIn('openai', 'gpt', {
        baseUrl: 'https://proxy.test',
        name: 'Mine',
        reasoning: true,
        thinking: true,
        input: ['text', 'image'],
        supportsImages: true,
        cost: { input: 7, output: 2, cacheRead: 3, cacheWrite: 4 },
        maxTokens: 50,
        compat: { store: false, more: 1, routing: { only: ['a'], sort: 'y' } },
      }),
    ]);
    expect(catalogueModels['openai']?.[0]?.compat).toEqual({ store: true, routing: { only: ['a'], sort: 'x' } });
  });

  it('omit the headers of the file: they may hold secrets', () => {
    const { list } = openUserModels({
      models: {
        mine: {
          ...customProvider,
          headers: { a: 'sk-secret' },
          models: [{ id: 'llama', headers: { b: 'sk-secret' } }],
        },
        openai: {
          headers: { c: 'sk-secret' },
          apiKey: 'sk-secret',
          modelOverrides: { gpt: { headers: { d: 'sk-secret' } } },
        },
      },
    });

    expect(JSON.stringify(list.inPreferenceOrder())).not.toContain('sk-secret');
  });

  it('survive malformed files', () => {
    const { list, auth } = openUserModels({
      models: { mine: customProvider, constructor: { compat: {} }, bad: { baseUrl: 'nonsense' } },
      auth: { openai: 'sk-secret' },
    });

    expect(modelNames(auth.usableModels())).toEqual(['mine/llama']);
    expect(list.find('__proto__', 'constructor')).toBeUndefined();
    expect([auth.hasKey('constructor'), auth.hasKey('toString'), auth.hasKey('')]).toEqual([false, false, false]);
    expect([...list.problems, ...auth.problems]).toEqual([
      'models.json: providers.bad.baseUrl must be an http or https URL, without a password',
      'auth.json: openai has an unknown shape',
    ]);
  });
});

describe('refresh', () => {
  it('reads files only if they have changed', () => {
    const { list, auth, refresh, write } = openUserModels({ models: { mine: customProvider } });
    const before = list.find('mine', 'llama');

    refresh();
    const same = list.find('mine', 'llama');
    write('models.json', { providers: { mine: { ...customProvider, models: [{ id: 'mistral' }] } } });
    write('auth.json', { openai: storedKey('k') });
    const unread = modelNames(auth.usableModels());
    refresh();

    expect(same).toBe(before);
    expect(unread).toEqual(['mine/llama']);
    expect(modelNames(auth.usableModels())).toEqual(['openai/gpt', 'mine/mistral']);
  });

  it('reports a malformed file, keeps it, and recovers when it is repaired', () => {
    const { list, auth, refresh, write, agentDir } = openUserModels({ models: { mine: customProvider } });

    write('models.json', '{"providers": {"mine": ');
    refresh();
    const malformed = { problems: [...list.problems, ...auth.problems], all: modelNames(list.inPreferenceOrder()) };
    const kept = readFileSync(join(agentDir, 'models.json'), 'utf8');
    write('models.json', { providers: { mine: customProvider } });
    refresh();

    expect(malformed.all).toEqual(['anthropic/opus', 'anthropic/haiku', 'openai/gpt']);
    expect(malformed.problems).toEqual([expect.stringMatching(/^models\.json: /)]);
    expect(kept).toBe('{"providers": {"mine": ');
    expect([[...list.problems, ...auth.problems], list.find('mine', 'llama')?.id]).toEqual([[], 'llama']);
  });
});
