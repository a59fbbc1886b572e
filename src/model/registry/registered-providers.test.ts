import { describe, expect, it } from 'vitest';
import { Refusal } from '../../protocol/errors.ts';
import type { ProviderConfig } from './provider-config.ts';
import { builtIn, customProvider, modelNames, openKnownModels, storedKey } from './testing/user-files.ts';

const acme: ProviderConfig = {
  baseUrl: 'https://acme.test/v1/',
  apiKey: 'a key',
  api: 'openai-completions',
  models: [{ id: 'one' }, { id: 'two', api: 'anthropic-messages', baseUrl: 'https://two.test', headers: { a: 'b' } }],
};

describe('a registered provider', () => {
  it('has models with the defaults of models.json until it is unregistered', () => {
    const { known } = openKnownModels();

    known.register('acme', acme);

    expect(modelNames(known.available())).toEqual(['acme/one', 'acme/two']);
    expect(known.find('acme', 'one')).toEqual({
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
    expect(known.preferred()).toMatchObject({ id: 'one' });
    known.unregister('acme');
    expect([known.available(), known.find('acme', 'one'), known.hasKey('acme')]).toEqual([[], undefined, false]);
  });

  it('with models replaces those of the catalogue and the file', () => {
    const { known } = openKnownModels({
      models: { openai: customProvider, mine: customProvider },
      env: { OPENAI_API_KEY: 'k' },
    });

    known.register('openai', acme);
    known.register('mine', acme);

    expect(modelNames([...known.models('openai'), ...known.models('mine')])).toEqual([
      'openai/one',
      'openai/two',
      'mine/one',
      'mine/two',
    ]);
    known.unregister('openai');
    known.unregister('mine');
    expect(modelNames([...known.models('openai'), ...known.models('mine')])).toEqual([
      'openai/gpt',
      'openai/llama',
      'mine/llama',
    ]);
  });

  it('without models changes the address and headers of those in the catalogue and the file', async () => {
    const { known } = openKnownModels({
      models: {
        mine: {
          ...customProvider,
          headers: { a: 'file', b: 'file' },
          models: [{ id: 'llama', baseUrl: 'http://own' }],
        },
      },
    });
    const gate = { baseUrl: 'https://gate.test', headers: { A: 'gate' }, apiKey: 'k' };

    known.register('openai', gate);
    known.register('mine', gate);

    expect(known.find('openai', 'gpt')).toMatchObject({ baseUrl: 'https://gate.test', cost: { output: 2 } });
    for (const model of [known.find('openai', 'gpt'), known.find('mine', 'llama')]) {
      expect(await known.endpoint(model ?? builtIn('', ''))).toMatchObject({
        baseUrl: 'https://gate.test',
        apiKey: 'k',
        headers: { a: 'gate' },
      });
    }
    known.unregister('mine');
    expect(await known.endpoint(known.find('mine', 'llama') ?? builtIn('', ''))).toMatchObject({
      baseUrl: 'http://own',
      apiKey: undefined,
      headers: { a: 'file', b: 'file' },
    });
  });

  it('is changed by a later registration; omitted fields stay', async () => {
    const { known, keyOf } = openKnownModels();

    known.register('acme', acme);
    known.register('acme', { apiKey: 'another', models: [{ id: 'three' }] });

    expect(modelNames(known.models('acme'))).toEqual(['acme/three']);
    expect(known.find('acme', 'three')).toMatchObject({ api: 'openai-completions', baseUrl: 'https://acme.test/v1' });
    expect(await keyOf('acme', 'three')).toBe('another');
  });

  it('does not follow changes of the object that described it', () => {
    const { known } = openKnownModels();
    const config = { ...acme, models: [{ id: 'one' }] };

    known.register('acme', config);
    config.models.push({ id: 'late' });

    expect(modelNames(known.models('acme'))).toEqual(['acme/one']);
  });

  it('omits models that are not for chat', () => {
    const { known } = openKnownModels();
    const models = [{ id: 'one', type: 'chat' }, { id: 'painter', type: 'image' }, { id: 'two' }];

    known.register('acme', { ...acme, models });

    expect(modelNames(known.models('acme'))).toEqual(['acme/one', 'acme/two']);
  });

  it('finds its key in the usual sources, its own last', async () => {
    const stored = openKnownModels({ auth: { acme: storedKey('stored') } });
    stored.known.register('acme', acme);
    const named = openKnownModels({ env: { ACME_KEY: 'from the environment' } });
    named.known.register('acme', { ...acme, apiKey: '$ACME_KEY', headers: { team: 'ACME_TEAM' } });
    const unset = openKnownModels();
    unset.known.register('acme', { ...acme, apiKey: '$ACME_KEY' });
    const filed = openKnownModels({ models: { acme: { apiKey: 'of the file' } } });
    filed.known.register('acme', { ...acme, apiKey: undefined } as unknown as ProviderConfig);

    expect(await stored.keyOf('acme', 'one')).toBe('stored');
    expect(await named.keyOf('acme', 'one')).toBe('from the environment');
    expect(await filed.keyOf('acme', 'one')).toBe('of the file');
    expect(named.known.secretNames).toEqual(['ACME_KEY']);
    expect(unset.known.hasKey('acme')).toBe(false);
    expect(unset.known.missingKeyMessage('acme')).toBe(
      'No API key found for acme. registerProvider: acme.apiKey: The environment variable ACME_KEY is not set',
    );
  });

  it('needs no key if it requests none, and its headers are hidden', async () => {
    const { known } = openKnownModels();
    const { apiKey: _key, ...without } = acme;

    known.register('acme', without);

    expect(known.hasKey('acme')).toBe(true);
    expect(JSON.stringify(known.models('acme'))).not.toContain('"a"');
    expect(await known.auth({ provider: 'acme', id: 'two' })).toMatchObject({
      apiKey: undefined,
      headers: { a: 'b' },
    });
  });

  const keyless = { ...acme, api: 'acme-api', streamSimple: () => [] };

  it('may define its own API kind, and needs no address then', () => {
    const { known } = openKnownModels();

    known.register('acme', {
      ...keyless,
      baseUrl: 'acme://here',
      models: [{ id: 'one' }, { id: 'two', api: acme.api ?? '' }],
    });
    known.register('bare', { api: 'bare', streamSimple: keyless.streamSimple, models: [{ id: 'x' }] });
    known.register('anthropic', { api: 'anthropic-messages', streamSimple: keyless.streamSimple });

    const custom = [...known.models('acme'), ...known.models('bare'), ...known.models('anthropic')];
    expect(modelNames(custom.filter((model) => known.streamOf(model)))).toEqual([
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
    ['acme', {}, 'acme must have models, baseUrl, apiKey, headers, compat or modelOverrides'],
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
    const { known } = openKnownModels();
    const register = () => known.register(name, config as ProviderConfig);

    expect(register).toThrow(Refusal);
    expect(register).toThrow(`The provider cannot be registered: ${sentence}`);
    expect(known.providers()).toEqual(['anthropic', 'openai']);
  });
});
