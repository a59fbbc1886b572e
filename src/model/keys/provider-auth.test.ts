import { describe, expect, it } from 'vitest';
import { version } from '../../protocol/generated/version.ts';
import {
  builtIn,
  customProvider,
  modelNames,
  openUserModels,
  storedKey,
  type UserFiles,
} from '../registry/testing/user-files.ts';

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
    expect(modelNames(openUserModels(files).auth.usableModels())).toEqual(expected);
  });

  it('come in the order of the catalogue, then of the file', () => {
    const models = { zeta: customProvider, mine: customProvider, openai: { apiKey: 'k' } };
    const { auth } = openUserModels({ models, env: { ANTHROPIC_AUTH_TOKEN: 'k' } });

    expect(modelNames(auth.usableModels())).toEqual([
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
    const { auth } = openUserModels({ env: { OPENAI_API_KEY: 'k' } });

    expect(await auth.endpoint(builtIn('openai', 'gpt'))).toEqual({
      baseUrl: 'https://openai.test/v1',
      apiKey: 'k',
      headers: { 'user-agent': `tau/${version}` },
    });
  });

  it('has the headers of the model, the provider and the override, whatever their case', async () => {
    const { auth } = openUserModels({
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

    const { headers } = await auth.endpoint(builtIn('openai', 'gpt'));
    const mine = await auth.endpoint(builtIn('mine', 'llama', { baseUrl: 'https://stale.test' }));

    expect(headers).toEqual({ 'user-agent': 'me/1', 'x-team': 'blue', 'x-one': 'model' });
    expect(mine).toEqual({
      baseUrl: 'http://localhost:1/v1',
      apiKey: 'sk',
      headers: { 'user-agent': `tau/${version}`, authorization: 'Bearer sk', a: 'b' },
    });
  });

  it('of an unlisted model is that of its provider', async () => {
    const { auth } = openUserModels({ models: { openai: { apiKey: 'k', headers: { a: 'b' } } } });
    const model = builtIn('openai', 'gpt-next', { headers: { 'X-Own': 'c', odd: 7 } });

    expect(await auth.endpoint(model)).toMatchObject({
      baseUrl: 'https://openai.test/v1',
      headers: { a: 'b', 'x-own': 'c' },
    });
    await expect(auth.endpoint({ ...model, baseUrl: undefined })).rejects.toThrow(
      'No address is known for openai/gpt-next. Give providers.openai a baseUrl in models.json.',
    );
  });
});

describe('the secrets that tools must not get', () => {
  it('are the set variables that the files name, except shared ones', () => {
    const { auth } = openUserModels({
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

    expect([...auth.secretNames].sort()).toEqual(['CHANGED', 'MODEL', 'OLD_STYLE', 'PLAIN', 'STORED']);
  });
});

describe('the locations of keys', () => {
  it('are reported, never the keys', () => {
    const { auth } = openUserModels({
      models: { mine: customProvider, other: { ...customProvider, apiKey: '$OTHER' } },
      auth: { openai: storedKey('sk-secret') },
      env: { ANTHROPIC_API_KEY: 'sk-secret', OTHER: 'sk-secret' },
    });

    expect([...auth.keyLocations()]).toEqual([
      ['anthropic', 'ANTHROPIC_API_KEY'],
      ['openai', 'auth.json: openai.key'],
      ['mine', undefined],
      ['other', 'models.json: providers.other.apiKey'],
    ]);
    expect(auth.keyProblems).toEqual([]);
  });

  it.each(['toString', 'constructor'])('are those of any provider, such as one with the name %s', async (provider) => {
    const credential = { type: 'oauth', access: 'a', expires: 9e15 };
    const { auth } = openUserModels({ models: { [provider]: customProvider }, auth: { [provider]: credential } });
    const interaction = { signal: new AbortController().signal, notify: () => {}, prompt: async () => undefined };

    expect([...auth.keyLocations().keys()]).toEqual([provider]);
    expect(auth.keyProblems).toEqual([]);
    await expect(auth.logIn(provider, interaction)).rejects.toThrow(`Unknown OAuth provider: ${provider}`);
  });

  it('are reported with the problem of an unusable key', () => {
    const { auth, agentDir } = openUserModels({
      models: { mine: { ...customProvider, apiKey: '$GONE' }, lazy: { ...customProvider, apiKey: '!exit 1' } },
      auth: { openai: { type: 'oauth', access: 'sk-secret', expires: 1 } },
    });

    expect([...auth.keyLocations().keys()]).toEqual(['lazy']);
    expect(auth.keyProblems).toEqual([
      'mine cannot be used. models.json: providers.mine.apiKey: The environment variable GONE is not set',
      `openai cannot be used. The sign-in for openai has expired, and tau cannot renew it. Run: tau login openai, or put {"openai": {"type": "api_key", "key": "…"}} in its place in ${agentDir}/auth.json.`,
    ]);
  });
});
