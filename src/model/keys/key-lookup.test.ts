import { describe, expect, it } from 'vitest';
import { Refusal } from '../../protocol/errors.ts';
import { customProvider, openUserModels, storedKey, type UserFiles } from '../registry/testing/user-files.ts';

const later = Date.now() + 3_600_000;

describe('the key of a model', () => {
  it('is searched in one source after another', async () => {
    const allSources = {
      runtimeKey: { provider: 'anthropic', key: '$literal' },
      auth: { anthropic: storedKey('stored') },
      env: { ANTHROPIC_OAUTH_TOKEN: 'first', ANTHROPIC_API_KEY: 'second' },
      models: { anthropic: { apiKey: 'file' } },
    };
    const { runtimeKey: _runtime, ...stored } = allSources;
    const { auth: _auth, ...env } = stored;
    const second = { ...env, env: { ANTHROPIC_API_KEY: 'second' } };

    const keys = [allSources, stored, env, second, { models: env.models }].map((files) =>
      openUserModels(files).keyOf('anthropic', 'opus'),
    );

    expect(await Promise.all(keys)).toEqual(['$literal', 'stored', 'first', 'second', 'file']);
  });

  it('is that of a stored sign-in, before the environment', async () => {
    const { keyOf } = openUserModels({
      auth: { openai: { type: 'oauth', access: 'signed in', expires: later } },
      env: { OPENAI_API_KEY: 'k' },
    });

    expect(await keyOf('openai', 'gpt')).toBe('signed in');
  });

  it('resolves variables, provider variables and commands in the agent folder', async () => {
    const { keyOf, write } = openUserModels({
      auth: { openai: { ...storedKey('$OWN-$SHARED'), env: { OWN: 'own', SHARED: 'over' } } },
      models: { anthropic: { apiKey: '!cat key' }, mine: { ...customProvider, apiKey: 'MY_KEY' } },
      env: { MY_KEY: 'mine', SHARED: 'under' },
    });
    write('key', 'from a file\n');

    expect(await Promise.all([keyOf('openai', 'gpt'), keyOf('anthropic', 'opus'), keyOf('mine', 'llama')])).toEqual([
      'own-over',
      'from a file',
      'mine',
    ]);
  });

  it('is undefined if none is needed', async () => {
    expect(await openUserModels({ models: { mine: customProvider } }).keyOf('mine', 'llama')).toBeUndefined();
  });

  const refusals: [string, UserFiles, string, string][] = [
    [
      'anthropic',
      {},
      'opus',
      'No API key found for anthropic. Set ANTHROPIC_API_KEY, or add {"anthropic": {"type": "api_key", "key": "…"}} to <agentDir>/auth.json.',
    ],
    [
      'mine',
      { models: { mine: { ...customProvider, authHeader: true } } },
      'llama',
      'No API key found for mine. Give providers.mine an apiKey in models.json, or add {"mine": {"type": "api_key", "key": "…"}} to <agentDir>/auth.json.',
    ],
    [
      'constructor',
      {},
      'x',
      'No API key found for constructor. There is no such provider: describe providers.constructor in models.json.',
    ],
    [
      'openai',
      { models: { openai: { apiKey: '$GONE' } } },
      'gpt',
      'No API key found for openai. models.json: providers.openai.apiKey: The environment variable GONE is not set',
    ],
    [
      'openai',
      { auth: { openai: storedKey('!echo sk-secret; exit 3') }, env: { OPENAI_API_KEY: 'k' } },
      'gpt',
      'No API key found for openai. auth.json: openai.key: The command `echo sk-secret; exit 3` ended with code 3',
    ],
    [
      'openai',
      { auth: { openai: { type: 'oauth', access: 'a', expires: 1 } }, env: { OPENAI_API_KEY: 'k' } },
      'gpt',
      'The sign-in for openai has expired, and tau cannot renew it. Run: tau login openai, or put {"openai": {"type": "api_key", "key": "…"}} in its place in <agentDir>/auth.json.',
    ],
    [
      'mine',
      { models: { mine: { ...customProvider, headers: { 'X-Team': '$GONE' } } } },
      'llama',
      'models.json: the header x-team of mine: The environment variable GONE is not set',
    ],
  ];

  it.each(refusals)('is rejected with advice on how to set one: %s (%#)', async (provider, files, id, message) => {
    const { keyOf, agentDir } = openUserModels(files);

    const refusal = await keyOf(provider, id).catch((error: unknown) => error);

    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ code: 'model_not_found', message: message.replace('<agentDir>', agentDir) });
  });
});
