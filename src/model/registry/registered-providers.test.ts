import { describe, expect, it } from 'vitest';
import { Refusal } from '../../protocol/errors.ts';
import type { ProviderConfig } from './provider-config.ts';
import { builtIn, customProvider, modelNames, openUserModels, storedKey } from './testing/user-files.ts';

const acme: ProviderConfig = {
  baseUrl: 'https://acme.test/v1/',
  apiKey: 'a key',
  api: 'openai-completions',
  models: [{ id: 'one' }, { id: 'two', api: 'anthropic-messages', baseUrl: 'https://two.test', headers: { a: 'b' } }],
};

describe('a registered provider', () => {
  it('has models with the defaults of models.json until it is unregistered', () => {
    const { list, auth } = openUserModels();

    list.register('acme', acme);

    expect(modelNames(auth.usableModels())).toEqual(['acme/one', 'acme/two']);
    expect(list.find('acme', 'one')).toEqual({
      id: 'one',
      name: 'one',
      api: 'openai-completions',
      provider: 'acme',
      baseUrl: 'https://acme.test/v1',
      reasoning: false,
      thinking: false,
      input: ['text'],
      supportsImages: false,
      supportsTools: true,
      contextWindow: 128_000,
      maxTokens: 16_384,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    });
    expect(auth.preferredModel()).toMatchObject({ id: 'one' });
    list.unregister('acme');
    expect([auth.usableModels(), list.find('acme', 'one'), auth.hasKey('acme')]).toEqual([[], undefined, false]);
  });

  it('with models replaces those of the catalogue and the file', () => {
    const { list } = openUserModels({
      models: { openai: customProvider, mine: customProvider },
      env: { OPENAI_API_KEY: 'k' },
    });

    list.register('openai', acme);
    list.register('mine', acme);

    expect(modelNames([...list.models('openai'), ...list.models('mine')])).toEqual([
      'openai/one',
      'openai/two',
      'mine/one',
      'mine/two',
    ]);
    list.unregister('openai');
    list.unregister('mine');
    expect(modelNames([...list.models('openai'), ...list.models('mine')])).toEqual([
      'openai/gpt',
      'openai/llama',
      'mine/llama',
    ]);
  });

  it('without models changes the address and headers of those in the catalogue and the file', async () => {
    const { list, auth } = openUserModels({
      models: {
        mine: {
          ...customProvider,
          headers: { a: 'file', b: 'file' },
          models: [{ id: 'llama', baseUrl: 'http://own' }],
        },
      },
    });
    const gate = { baseUrl: 'https://gate.test', headers: { A: 'gate' }, apiKey: 'k' };

    list.register('openai', gate);
    list.register('mine', gate);

    expect(list.find('openai', 'gpt')).toMatchObject({ baseUrl: 'https://gate.test', cost: { output: 2 } });
    for (const model of [list.find('openai', 'gpt'), list.find('mine', 'llama')]) {
      expect(await auth.endpoint(model ?? builtIn('', ''))).toMatchObject({
        baseUrl: 'https://gate.test',
        apiKey: 'k',
        headers: { a: 'gate' },
      });
    }
    list.unregister('mine');
    expect(await auth.endpoint(list.find('mine', 'llama') ?? builtIn('', ''))).toMatchObject({
      baseUrl: 'http://own',
      apiKey: undefined,
      headers: { a: 'file', b: 'file' },
    });
  });

  it('is changed by a later registration; omitted fields stay', async () => {
    const { list, keyOf } = openUserModels();

    list.register('acme', acme);
    list.register('acme', { apiKey: 'another', models: [{ id: 'three' }] });

    expect(modelNames(list.models('acme'))).toEqual(['acme/three']);
    expect(list.find('acme', 'three')).toMatchObject({ api: 'openai-completions', baseUrl: 'https://acme.test/v1' });
    expect(await keyOf('acme', 'three')).toBe('another');
  });

  it('does not follow changes of the object that described it', () => {
    const { list } = openUserModels();
    const config = { ...acme, models: [{ id: 'one' }] };

    list.register('acme', config);
    config.models.push({ id: 'late' });

    expect(modelNames(list.models('acme'))).toEqual(['acme/one']);
  });

  it('omits models that are not for chat', () => {
    const { list } = openUserModels();
    const models = [{ id: 'one', type: 'chat' }, { id: 'painter', type: 'image' }, { id: 'two' }];

    list.register('acme', { ...acme, models });

    expect(modelNames(list.models('acme'))).toEqual(['acme/one', 'acme/two']);
  });

  it('finds its key in the usual sources, its own last', async () => {
    const stored = openUserModels({ auth: { acme: storedKey('stored') } });
    stored.list.register('acme', acme);
    const named = openUserModels({ env: { ACME_KEY: 'from the environment' } });
    named.list.register('acme', { ...acme, apiKey: '$ACME_KEY', headers: { team: 'ACME_TEAM' } });
    const unset = openUserModels();
    unset.list.register('acme', { ...acme, apiKey: '$ACME_KEY' });
    const filed = openUserModels({ models: { acme: { apiKey: 'of the file' } } });
    filed.list.register('acme', { ...acme, apiKey: undefined } as unknown as ProviderConfig);

    expect(await stored.keyOf('acme', 'one')).toBe('stored');
    expect(await named.keyOf('acme', 'one')).toBe('from the environment');
    expect(await filed.keyOf('acme', 'one')).toBe('of the file');
    expect(named.auth.secretNames).toEqual(['ACME_KEY']);
    expect(unset.auth.hasKey('acme')).toBe(false);
    expect(unset.auth.missingKeyMessage('acme')).toBe(
      'No API key found for acme. registerProvider: acme.apiKey: The environment variable ACME_KEY is not set',
    );
  });

  it('needs no key if it requests none, and its headers are hidden', async () => {
    const { list, auth } = openUserModels();
    const { apiKey: _key, ...without } = acme;

    list.register('acme', without);

    expect(auth.hasKey('acme')).toBe(true);
    expect(JSON.stringify(list.models('acme'))).not.toContain('"a"');
    expect(await auth.keyAndHeaders({ provider: 'acme', id: 'two' })).toMatchObject({
      apiKey: undefined,
      headers: { a: 'b' },
    });
  });

  const keyless = { ...acme, api: 'acme-api', streamSimple: () => [] };

  it('may define its own API kind, and needs no address then', () => {
    const { list } = openUserModels();

    list.register('acme', {
      ...keyless,
      baseUrl: 'acme://here',
      models: [{ id: 'one' }, { id: 'two', api: acme.api ?? '' }],
    });
    list.register('bare', { api: 'bare', streamSimple: keyless.streamSimple, models: [{ id: 'x' }] });
    list.register('anthropic', { api: 'anthropic-messages', streamSimple: keyless.streamSimple });

    const custom = [...list.models('acme'), ...list.models('bare'), ...list.models('anthropic')];
    expect(modelNames(custom.filter((model) => list.registered.streamOf(model)))).toEqual([
      'acme/one',
      'bare/x',
      'anthropic/opus',
    ]);
  });

  it.each<[string, unknown, string]>([
    ['', acme, 'a provider needs a name'],
    ['acme', null, 'acme must be an object'],
    ['acme', [], 'acme must be an object'],
    ['tau', acme, 'tau is the provider of the built-in models'],
    ['acme', {}, 'acme must have models, baseUrl, apiKey, headers, credentials, compat, modelOverrides or signIn'],
    ['acme', { ...acme, api: 'telepathy' }, 'acme.api must be one of anthropic-messages'],
    ['acme', { ...acme, api: undefined }, 'acme.api is required for its models'],
    ['acme', { ...acme, baseUrl: undefined }, 'acme.baseUrl is required for its models'],
    ['acme', { ...acme, baseUrl: 'acme.test' }, 'acme.baseUrl must be an http or https URL'],
    ['acme', { ...acme, apiKey: 3 }, 'acme.apiKey must be a string'],
    ['acme', { ...acme, headers: { a: 1 } }, 'acme.headers.a must be a string'],
    ['acme', { ...acme, models: [{ name: 'x' }] }, 'acme.models[0].id is required'],
    ['acme', { ...acme, models: [{ id: 'x', contextWindow: Number.NaN }] }, 'acme.models[0].contextWindow must be'],
    ['acme', { ...acme, models: { id: 'x' } }, 'acme.models must be an array'],
    ['acme', { ...acme, models: [{ id: 1n }] }, 'acme: Do not know how to serialize a BigInt'],
    ['acme', { ...keyless, streamSimple: 'x' }, 'acme.streamSimple must be a function'],
    ['acme', { ...keyless, api: undefined }, 'acme.api is required for streamSimple'],
    ['acme', { ...acme, oauth: 'x' }, 'acme.oauth must be an object'],
    ['acme', { ...acme, oauth: { getApiKey: () => '' } }, 'acme.oauth.refreshToken must be a function'],
  ])('%j is rejected with the reason (%#)', (name, config, sentence) => {
    const { list } = openUserModels();
    const register = () => list.register(name, config as ProviderConfig);

    expect(register).toThrow(Refusal);
    expect(register).toThrow(`The provider cannot be registered: ${sentence}`);
    expect(list.providers()).toEqual(['anthropic', 'openai']);
  });
});
