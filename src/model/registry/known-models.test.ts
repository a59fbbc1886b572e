import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { version } from '../../protocol/generated/version.ts';
import {
  builtIn,
  catalogueModels,
  customProvider,
  modelNames,
  openKnownModels,
  storedKey,
  type UserFiles,
} from './testing/user-files.ts';

describe('the known models', () => {
  it('are those of the catalogue if the user has no files', () => {
    const { known } = openKnownModels();

    expect(known.providers()).toEqual(['anthropic', 'openai']);
    expect(modelNames(known.all())).toEqual(['anthropic/opus', 'anthropic/haiku', 'openai/gpt']);
    expect(known.find('openai', 'gpt')).toBe(catalogueModels['openai']?.[0]);
    expect([known.available(), known.problems, known.secretNames]).toEqual([[], [], []]);
  });

  it('of the user follow them, with the defaults of pi', () => {
    const { known } = openKnownModels({
      models: { mine: customProvider, openai: { ...customProvider, models: [{ id: 'more' }] } },
    });

    expect(modelNames(known.all())).toEqual([
      'anthropic/opus',
      'anthropic/haiku',
      'openai/gpt',
      'openai/more',
      'mine/llama',
    ]);
    expect(known.find('mine', 'llama')).toEqual({
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
    const { known } = openKnownModels({
      models: { mine: { ...customProvider, compat: { a: 1, b: 1 }, models: [{ id: 'llama', ...ownFields }] } },
    });

    expect(known.find('mine', 'llama')).toEqual({
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
    const { known } = openKnownModels({ models: { anthropic: { ...customProvider, models: [{ id: 'opus' }] } } });

    expect(modelNames(known.models('anthropic'))).toEqual(['anthropic/opus', 'anthropic/haiku']);
    expect(known.find('anthropic', 'opus')).toMatchObject({ name: 'opus', api: 'openai-completions' });
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
    const { known } = openKnownModels({
      models: {
        openai: {
          baseUrl: 'https://proxy.test//',
          compat: { store: false, more: 1 },
          modelOverrides: { gpt: change, 'no-such-model': { name: 'X' } },
        },
      },
    });

    expect(known.all().filter(({ provider }) => provider === 'openai')).toEqual([
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
    const { known } = openKnownModels({
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

    expect(JSON.stringify(known.all())).not.toContain('sk-secret');
  });

  it('survive malformed files', () => {
    const { known } = openKnownModels({
      models: { mine: customProvider, constructor: { compat: {} }, bad: { baseUrl: 'nonsense' } },
      auth: { openai: 'sk-secret' },
    });

    expect(modelNames(known.available())).toEqual(['mine/llama']);
    expect(known.find('__proto__', 'constructor')).toBeUndefined();
    expect([known.hasKey('constructor'), known.hasKey('toString'), known.hasKey('')]).toEqual([false, false, false]);
    expect(known.problems).toEqual([
      'models.json: providers.bad.baseUrl must be an http or https URL, without a password',
      'auth.json: openai has an unknown shape',
    ]);
  });
});

describe('the usable models', () => {
  it.each<[string, UserFiles, string[]]>([
    ['a key for this process', { runtimeKey: { provider: 'openai', key: 'k' } }, ['openai/gpt']],
    ['a stored key', { auth: { openai: storedKey('k') } }, ['openai/gpt']],
    ['a stored command, which is not run', { auth: { openai: storedKey('!exit 1') } }, ['openai/gpt']],
    ['a sign-in', { auth: { openai: { type: 'oauth', access: 'a', expires: 9e15 } } }, ['openai/gpt']],
    ['a sign-in that has expired', { auth: { openai: { type: 'oauth', access: 'a', expires: 1 } } }, []],
    ['a variable', { env: { OPENAI_API_KEY: 'k' } }, ['openai/gpt']],
    ['a key in models.json', { models: { openai: { apiKey: 'k' } } }, ['openai/gpt']],
    ['a variable that models.json names', { models: { openai: { apiKey: '$K' } }, env: { K: 'k' } }, ['openai/gpt']],
    ['a server of the user, without a key', { models: { mine: customProvider } }, ['mine/llama']],
    ['an empty variable', { env: { OPENAI_API_KEY: '' } }, []],
    [
      'a variable that is not set',
      { models: { openai: { apiKey: '$K' }, mine: { ...customProvider, apiKey: '$K' } } },
      [],
    ],
    ['a server of the user that demands a key', { models: { mine: { ...customProvider, authHeader: true } } }, []],
    ['models at a built-in provider', { models: { openai: customProvider } }, []],
    ['another address', { models: { openai: { baseUrl: 'http://localhost:1' } } }, []],
  ])('with %s', (_what, files, expected) => {
    expect(modelNames(openKnownModels(files).known.available())).toEqual(expected);
  });

  it('come in the order of the catalogue, then of the file', () => {
    const models = { zeta: customProvider, mine: customProvider, openai: { apiKey: 'k' } };
    const { known } = openKnownModels({ models, env: { ANTHROPIC_AUTH_TOKEN: 'k' } });

    expect(modelNames(known.available())).toEqual([
      'anthropic/opus',
      'anthropic/haiku',
      'openai/gpt',
      'zeta/llama',
      'mine/llama',
    ]);
  });
});

describe('the endpoint of a model', () => {
  it('has the address of the model and the user agent', async () => {
    const { known } = openKnownModels({ env: { OPENAI_API_KEY: 'k' } });

    expect(await known.endpoint(builtIn('openai', 'gpt'))).toEqual({
      baseUrl: 'https://openai.test/v1',
      apiKey: 'k',
      headers: { 'user-agent': `tau/${version}` },
    });
  });

  it('has the headers of the model, the provider and the override, whatever their case', async () => {
    const { known } = openKnownModels({
      env: { TEAM: 'blue' },
      models: {
        openai: {
          apiKey: 'k',
          headers: { 'X-Team': '$TEAM', 'x-one': 'provider', 'User-Agent': 'me/1' },
          modelOverrides: { gpt: { headers: { 'X-One': '!echo model' } } },
        },
        mine: {
          ...customProvider,
          apiKey: 'sk',
          authHeader: true,
          models: [{ id: 'llama', headers: { Authorization: 'x', a: 'b' } }],
        },
      },
    });

    const { headers } = await known.endpoint(builtIn('openai', 'gpt'));
    const mine = await known.endpoint(builtIn('mine', 'llama', { baseUrl: 'https://stale.test' }));

    expect(headers).toEqual({ 'user-agent': 'me/1', 'x-team': 'blue', 'x-one': 'model' });
    expect(mine).toEqual({
      baseUrl: 'http://localhost:1/v1',
      apiKey: 'sk',
      headers: { 'user-agent': `tau/${version}`, authorization: 'Bearer sk', a: 'b' },
    });
  });

  it('of an unlisted model is that of its provider', async () => {
    const { known } = openKnownModels({ models: { openai: { apiKey: 'k', headers: { a: 'b' } } } });
    const model = builtIn('openai', 'gpt-next', { headers: { 'X-Own': 'c', odd: 7 } });

    expect(await known.endpoint(model)).toMatchObject({
      baseUrl: 'https://openai.test/v1',
      headers: { a: 'b', 'x-own': 'c' },
    });
    await expect(known.endpoint({ ...model, baseUrl: undefined })).rejects.toThrow(
      'No address is known for openai/gpt-next. Give providers.openai a baseUrl in models.json.',
    );
  });
});

describe('the secrets that tools must not get', () => {
  it('are the set variables that the files name, except shared ones', () => {
    const { known } = openKnownModels({
      auth: { openai: storedKey('$STORED') },
      models: {
        mine: { ...customProvider, apiKey: 'OLD_STYLE', headers: { a: '$PLAIN $HOME', b: 'LITERAL' } },
        anthropic: { apiKey: '$GITHUB_TOKEN', modelOverrides: { opus: { headers: { c: '$CHANGED' } } } },
        other: { ...customProvider, apiKey: '!echo $COMMAND', models: [{ id: 'm', headers: { d: '$MODEL $GONE' } }] },
      },
      env: Object.fromEntries(
        ['STORED', 'OLD_STYLE', 'PLAIN', 'HOME', 'GITHUB_TOKEN', 'CHANGED', 'COMMAND', 'MODEL'].map((name) => [
          name,
          'x',
        ]),
      ),
    });

    expect([...known.secretNames].sort()).toEqual(['CHANGED', 'MODEL', 'OLD_STYLE', 'PLAIN', 'STORED']);
  });
});

describe('refresh', () => {
  it('reads files only if they have changed', () => {
    const { known, write } = openKnownModels({ models: { mine: customProvider } });
    const before = known.find('mine', 'llama');

    known.refresh();
    const same = known.find('mine', 'llama');
    write('models.json', { providers: { mine: { ...customProvider, models: [{ id: 'mistral' }] } } });
    write('auth.json', { openai: storedKey('k') });
    const unread = modelNames(known.available());
    known.refresh();

    expect(same).toBe(before);
    expect(unread).toEqual(['mine/llama']);
    expect(modelNames(known.available())).toEqual(['openai/gpt', 'mine/mistral']);
  });

  it('reports a malformed file, keeps it, and recovers when it is repaired', () => {
    const { known, write, agentDir } = openKnownModels({ models: { mine: customProvider } });

    write('models.json', '{"providers": {"mine": ');
    known.refresh();
    const malformed = { problems: known.problems, all: modelNames(known.all()) };
    const kept = readFileSync(join(agentDir, 'models.json'), 'utf8');
    write('models.json', { providers: { mine: customProvider } });
    known.refresh();

    expect(malformed.all).toEqual(['anthropic/opus', 'anthropic/haiku', 'openai/gpt']);
    expect(malformed.problems).toEqual([expect.stringMatching(/^models\.json: /)]);
    expect(kept).toBe('{"providers": {"mine": ');
    expect([known.problems, known.find('mine', 'llama')?.id]).toEqual([[], 'llama']);
  });
});

describe('the locations of keys', () => {
  it('are reported, never the keys', () => {
    const { known } = openKnownModels({
      models: { mine: customProvider, other: { ...customProvider, apiKey: '$OTHER' } },
      auth: { openai: storedKey('sk-secret') },
      env: { ANTHROPIC_API_KEY: 'sk-secret', OTHER: 'sk-secret' },
    });

    expect([...known.keyLocations()]).toEqual([
      ['anthropic', 'ANTHROPIC_API_KEY'],
      ['openai', 'auth.json: openai.key'],
      ['mine', undefined],
      ['other', 'models.json: providers.other.apiKey'],
    ]);
    expect(known.keyProblems).toEqual([]);
  });

  it('are reported with the problem of an unusable key', () => {
    const { known, agentDir } = openKnownModels({
      models: { mine: { ...customProvider, apiKey: '$GONE' }, lazy: { ...customProvider, apiKey: '!exit 1' } },
      auth: { openai: { type: 'oauth', access: 'sk-secret', expires: 1 } },
    });

    expect([...known.keyLocations().keys()]).toEqual(['lazy']);
    expect(known.keyProblems).toEqual([
      'mine cannot be used. models.json: providers.mine.apiKey: The environment variable GONE is not set',
      `openai cannot be used. The sign-in for openai has expired, and tau cannot renew it. Sign in again with pi, or put {"openai": {"type": "api_key", "key": "…"}} in its place in ${agentDir}/auth.json.`,
    ]);
  });
});
