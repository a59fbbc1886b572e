import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { type Home, newHome, openTestAgent, readSessionFile } from '../../support/agent/test-agent.ts';
import { agentFileText, homeWithFiles, providerConfig, type UserFiles } from '../../support/agent/user-files.ts';
import { anthropicApi } from '../../support/providers/anthropic-messages.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

const apiKey = (key: string) => ({ type: 'api_key', key });

describe('[L28] the API key that is sent', () => {
  const allSources = {
    auth: { anthropic: apiKey('stored') },
    env: { ANTHROPIC_API_KEY: 'variable' },
    key: 'file',
    args: ['--api-key', 'flag'],
  };
  type Sources = { [Source in keyof typeof allSources]?: unknown };

  it.each<[string, Sources, string]>([
    ['the command line', allSources, 'flag'],
    ['auth.json', { ...allSources, args: [] }, 'stored'],
    ['the environment', { ...allSources, args: [], auth: undefined }, 'variable'],
    ['models.json', { key: 'file' }, 'file'],
    ['auth.json by a variable', { auth: { anthropic: apiKey('$MY_KEY') }, env: { MY_KEY: 'named' } }, 'named'],
    ['auth.json by a command', { auth: { anthropic: apiKey('!echo commanded') } }, 'commanded'],
    ['models.json by the name of a variable', { key: 'MY_KEY', env: { MY_KEY: 'named' } }, 'named'],
  ])('comes from %s', async (_what, { auth, env, key, args }, expected) => {
    const double = await ProviderDouble.start(anthropicApi);
    const anthropic = { baseUrl: double.url, ...(key === undefined ? {} : { apiKey: key }) };
    const files: UserFiles = { models: { providers: { anthropic } }, auth };
    const { peer } = await openTestAgent('stdio', {
      home: homeWithFiles(files),
      env: (env ?? {}) as Record<string, string>,
      args: ['--model', 'claude-opus-5-5', '--provider', 'anthropic', ...((args ?? []) as string[])],
    });
    double.respondWith({ text: 'Let in.' });

    await peer.run('hi');

    expect((await double.request(0)).headers['x-api-key']).toBe(expected);
    expect(assistantTexts(peer.records)).toEqual(['Let in.']);
  });
});

describe('a missing API key', () => {
  it.each<[string, UserFiles, string]>([
    [
      'in a variable of models.json',
      { models: { providers: { own: providerConfig('http://127.0.0.1:1', { apiKey: '$NOT_SET' }) } } },
      'No API key found for own. models.json: providers.own.apiKey: The environment variable NOT_SET is not set',
    ],
    [
      'in a variable of auth.json',
      { models: { providers: { own: providerConfig('http://127.0.0.1:1') } }, auth: { own: apiKey('$NOT_SET') } },
      'No API key found for own. auth.json: own.key: The environment variable NOT_SET is not set',
    ],
    [
      'that the server requires',
      { models: { providers: { own: providerConfig('http://127.0.0.1:1', { authHeader: true }) } } },
      'No API key found for own. Give providers.own an apiKey in models.json, or add ',
    ],
  ])('%s fails the prompt before any request', async (_what, files, text) => {
    const { peer } = await openTestAgent('stdio', { home: homeWithFiles(files), args: ['--model', 'own/m'] });

    const refusal = await peer.refused({ type: 'prompt', message: 'hi' });

    expect(refusal).toMatchObject({ code: 'model_not_found', error: expect.stringContaining(text) });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: null, messageCount: 0 });
  });

  it('in a header fails the run with file and header', async () => {
    const own = providerConfig('http://127.0.0.1:1', { headers: { 'X-Team': '$NOT_SET' } });
    const { peer } = await openTestAgent('stdio', {
      home: homeWithFiles({ models: { providers: { own } } }),
      args: ['--model', 'own/m'],
    });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: 'models.json: the header x-team of own: The environment variable NOT_SET is not set',
    });
  });
});

describe('an invalid auth.json', () => {
  it.each<[string, unknown, RegExp]>([
    ['malformed JSON', '{"own": sk-hunter2}', /^tau: auth\.json: .*not valid JSON\n$/],
    ['a list', '[]', /^tau: auth\.json: the file must hold an object\n$/],
    ['a key of a wrong type', { own: { type: 'api_key', key: 3 } }, /^tau: auth\.json: own\.key .*string\n$/],
    ['a bare key', { own: 'sk-hunter2' }, /^tau: auth\.json: own has an unknown shape\n$/],
  ])('with %s is reported in one line, and the agent continues', async (_what, auth, line) => {
    const home = homeWithFiles({ auth });
    const before = agentFileText(home, 'auth.json');
    const agent = await openTestAgent('stdio', { home, script: [{ text: 'Still here.' }] });

    await agent.peer.run('hi');
    await agent.close();

    expect(assistantTexts(agent.peer.records)).toEqual(['Still here.']);
    expect(agent.process?.stderr()).toMatch(line);
    expect(JSON.stringify(agent.peer.records) + agent.process?.stderr()).not.toContain('hunter2');
    expect(agentFileText(home, 'auth.json')).toBe(before);
  });

  it('is not overwritten by set_credential', async () => {
    const home = homeWithFiles({ auth: '{"own": ' });
    const { peer } = await openTestAgent('stdio', { home });

    const refusal = await peer.refused({ type: 'set_credential', provider: 'own', apiKey: 'sk-hunter2' });

    expect(refusal['error']).toMatch(/^auth\.json: .*; it is left as it is$/);
    expect(agentFileText(home, 'auth.json')).toBe('{"own": ');
  });
});

describe('[L30] set_credential', () => {
  const SECRET = 'sk-hunter2';

  it('stores a key readable by its owner only, and the missing model becomes usable at once', async () => {
    const double = await ProviderDouble.start(completions);
    const other = apiKey('other');
    const home = homeWithFiles({
      models: { providers: { own: providerConfig(double.url, { authHeader: true }) } },
      auth: { other },
    });
    const log = join(home.root, 'log.jsonl');
    const agent = await openTestAgent('stdio', {
      home,
      args: ['--model', 'own/m', '--log-level', 'debug', '--log-file', log],
    });
    const { peer } = agent;
    double.respondWith({ text: 'Let in.' });
    await peer.refused({ type: 'prompt', message: 'hi' });

    const response = await peer.ok({ type: 'set_credential', provider: 'own', apiKey: SECRET });
    await peer.run('hi');

    expect(response).toEqual({ provider: 'own', models: 1 });
    expect(assistantTexts(peer.records)).toEqual(['Let in.']);
    expect((await double.request(0)).headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.parse(agentFileText(home, 'auth.json'))).toEqual({ other, own: apiKey(SECRET) });
    expect(statSync(join(home.agentDir, 'auth.json')).mode & 0o777).toBe(0o600);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { provider: 'own', id: 'm' } });
    await agent.close();
    expect(JSON.stringify(peer.records) + agent.process?.stderr()).not.toContain(SECRET);
    expect(filesHolding(home, SECRET)).toEqual(['agent/auth.json']);
    const changes = readSessionFile(agent.sessionFiles()[0] ?? '').filter(({ type }) => type === 'model_change');
    expect(changes).toMatchObject([{ provider: 'own', modelId: 'm' }]);
  });

  it('creates auth.json for a built-in provider and keeps the model in use', async () => {
    const { peer, home } = await openTestAgent('stdio', { home: newHome() });

    const { models } = await peer.ok({ type: 'set_credential', provider: 'anthropic', apiKey: SECRET });

    expect(models).toBeGreaterThan(1);
    expect(statSync(join(home.agentDir, 'auth.json')).mode & 0o777).toBe(0o600);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ model: { provider: 'tau' } });
    expect(await peer.ok({ type: 'set_model', provider: 'anthropic', modelId: 'claude-opus-5-5' })).toMatchObject({
      provider: 'anthropic',
    });
  });

  it('stores a key literally, even if it looks like a command or a variable', async () => {
    const double = await ProviderDouble.start(completions);
    const home = homeWithFiles({ models: { providers: { own: providerConfig(double.url, { apiKey: 'old' }) } } });
    const { peer } = await openTestAgent('stdio', { home, args: ['--model', 'own/m'] });
    const keys = ['!>made-by-a-key', 'sk-$HOME-$$'];

    for (const key of keys) {
      double.respondWith({ text: 'Let in.' });
      await peer.ok({ type: 'set_credential', provider: 'own', apiKey: key });
      await peer.run('hi');
    }

    expect(double.requests.map(({ headers }) => headers.authorization)).toEqual(keys.map((key) => `Bearer ${key}`));
    expect(readdirSync(home.agentDir)).not.toContain('made-by-a-key');
  });

  it('rejects an empty provider and a missing or empty key', async () => {
    const { peer, home } = await openTestAgent('stdio');

    for (const wrong of [{ provider: 'own' }, { provider: '', apiKey: SECRET }, { provider: 'own', apiKey: '' }]) {
      expect(await peer.refused({ type: 'set_credential', ...wrong })).toMatchObject({ code: 'invalid_params' });
    }

    expect(readdirSync(home.agentDir)).not.toContain('auth.json');
  });

  it('trims surrounding whitespace and rejects keys with spaces or control characters', async () => {
    const { peer, home } = await openTestAgent('stdio');
    const store = (key: string) => ({ type: 'set_credential', provider: 'own', apiKey: key });

    for (const wrong of [' \n', 'a nonsense key', 'sk-1\nsk-2', 'sk\t1', 'sk-\u00001', 'sk-\u200b1', 'sk-\u00a01']) {
      expect(await peer.refused(store(wrong))).toMatchObject({
        code: 'invalid_params',
        error: 'A key is one word, without spaces, line breaks or control characters',
      });
    }
    const before = readdirSync(home.agentDir);
    await peer.ok(store(` ${SECRET}\n`));

    expect(before).not.toContain('auth.json');
    expect(JSON.parse(agentFileText(home, 'auth.json'))).toEqual({ own: apiKey(SECRET) });
  });
});

describe('[L37] remove_credential', () => {
  it('removes a stored key; its models disappear and runs that use them fail', async () => {
    const double = await ProviderDouble.start(completions);
    const other = apiKey('other');
    const home = homeWithFiles({
      models: { providers: { own: providerConfig(double.url, { authHeader: true }) } },
      auth: { other, own: apiKey('sk-wrong') },
    });
    const { peer } = await openTestAgent('stdio', { home });
    const second = await openTestAgent('stdio', { home });
    const before = await peer.ok({ type: 'get_state' });
    await second.peer.ok({ type: 'get_state' });

    const response = await peer.ok({ type: 'remove_credential', provider: 'own' });
    const { models } = await peer.ok({ type: 'get_available_models' });
    await second.peer.run('hi');

    expect(before.model).toMatchObject({ provider: 'own' });
    expect(response).toEqual({ provider: 'own', models: 0 });
    expect(models.map(({ provider }: { provider: string }) => provider)).toEqual(['tau', 'tau', 'tau']);
    expect(JSON.parse(agentFileText(home, 'auth.json'))).toEqual({ other });
    expect(statSync(join(home.agentDir, 'auth.json')).mode & 0o777).toBe(0o600);
    expect(await waitUntilSettled(second.peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringContaining('No API key found for own.'),
    });
    expect(double.requests).toEqual([]);
    const next = await openTestAgent('stdio', { home });
    expect(await next.peer.ok({ type: 'get_state' })).toMatchObject({ model: { provider: 'tau' } });
  });

  const noKey = /^auth\.json holds no key for openai\. One of the environment, of models\.json/;
  const signIn = /^auth\.json holds a sign-in for openai, not a key\. Run: tau logout openai$/;

  it.each<[string, UserFiles, Record<string, string>, RegExp]>([
    ['the environment', {}, { OPENAI_API_KEY: 'sk-set' }, noKey],
    ['models.json', { models: { providers: { openai: { apiKey: 'sk-file' } } } }, {}, noKey],
    ['a sign-in', { auth: { openai: { type: 'oauth', access: 'sk-token', expires: 9e15 } } }, {}, signIn],
    ['nowhere', {}, {}, noKey],
  ])('rejects a key from %s and changes nothing', async (_what, files, env, message) => {
    const home = homeWithFiles(files);
    const { peer } = await openTestAgent('stdio', { home, env });
    const before = await peer.ok({ type: 'list_providers' });

    const refusal = await peer.refused({ type: 'remove_credential', provider: 'openai' });

    expect(refusal).toMatchObject({
      code: 'not_found',
      error: expect.stringMatching(message),
    });
    expect(await peer.ok({ type: 'list_providers' })).toEqual(before);
    expect(before.providers).toContainEqual(expect.objectContaining({ id: 'openai', stored: false }));
  });

  it('leaves a key from another source in use', async () => {
    const home = homeWithFiles({ auth: { openai: apiKey('sk-stored') } });
    const { peer } = await openTestAgent('stdio', { home, env: { OPENAI_API_KEY: 'sk-set' } });

    const { models } = await peer.ok({ type: 'remove_credential', provider: 'openai' });
    const { providers } = await peer.ok({ type: 'list_providers' });

    expect(models).toBeGreaterThan(1);
    expect(providers).toContainEqual(expect.objectContaining({ id: 'openai', configured: true, stored: false }));
  });
});

verifies('L36', 'list_providers returns each keyed provider and whether it has a key', async ({ open: openIt }) => {
  const home = homeWithFiles({
    models: {
      providers: {
        locked: providerConfig('http://127.0.0.1:1', { authHeader: true }),
        keyed: providerConfig('http://127.0.0.1:1', { apiKey: 'sk-in-a-file' }),
        free: providerConfig('http://127.0.0.1:1'),
      },
    },
    auth: { groq: apiKey('sk-stored') },
  });
  userExtension(
    home,
    'provider.ts',
    `export default (pi) => pi.registerProvider('extended', {
      baseUrl: 'http://127.0.0.1:1', api: 'openai-completions', apiKey: '$NOT_SET', models: [{ id: 'm' }],
    });`,
  );
  const { peer } = await openIt({ home, env: { OPENAI_API_KEY: 'sk-in-the-environment' } });
  await peer.ok({ type: 'get_commands' });

  const { providers } = await peer.ok({ type: 'list_providers' });
  await peer.ok({ type: 'set_credential', provider: 'locked', apiKey: 'sk-new' });
  const { providers: later } = await peer.ok({ type: 'list_providers' });

  const known = new Map<string, { models: number; configured: boolean }>(
    providers.map((one: { id: string }) => [one.id, one]),
  );
  expect(providers[0].id).toBe('anthropic');
  expect(known.get('anthropic')).toMatchObject({ configured: false, models: expect.any(Number) });
  expect([...known.values()].every(({ models }) => models > 0)).toBe(true);
  expect(providers.filter(({ configured }: { configured: boolean }) => configured)).toMatchObject([
    { id: 'openai', stored: false },
    { id: 'groq', stored: true },
    { id: 'keyed', models: 1, stored: false },
  ]);
  expect(known.get('locked')).toEqual({ id: 'locked', models: 1, configured: false, stored: false });
  expect(known.get('extended')).toEqual({ id: 'extended', models: 1, configured: false, stored: false });
  expect(['free', 'tau'].some((id) => known.has(id))).toBe(false);
  expect(later).toContainEqual({ id: 'locked', models: 1, configured: true, stored: true });
  expect(JSON.stringify(peer.records)).not.toContain('sk-');
});

verifies('Z40', 'tools get neither API keys nor variables named by the files', async ({ open: openIt }) => {
  const own = providerConfig('http://127.0.0.1:1', { apiKey: '$OWN_KEY', headers: { 'x-team': 'Team $TEAM_TOKEN' } });
  const home = homeWithFiles({ models: { providers: { own } }, auth: { other: apiKey('OTHER_KEY') } });
  const env = {
    OWN_KEY: 'hunter2',
    TEAM_TOKEN: 'hunter2',
    OTHER_KEY: 'hunter2',
    GROQ_API_KEY: 'hunter2',
    GREETING: 'hello tools',
  };
  const script = [{ toolCall: { name: 'bash', arguments: { command: 'env' } } }, { text: 'That is all.' }];
  const { peer } = await openIt({ home, env, script, args: ['--model', 'tau/scripted'] });

  await peer.run('look');
  const { output } = await peer.ok({ type: 'bash', command: 'env' });

  const seen = JSON.stringify(peer.records);
  for (const text of [seen, output]) {
    expect(text).toContain('GREETING=hello tools');
    expect(text).not.toContain('hunter2');
    expect(text).not.toMatch(/OWN_KEY|TEAM_TOKEN|OTHER_KEY|GROQ_API_KEY/);
  }
});

/** The files under the home that contain a text. */
const filesHolding = ({ root }: Home, text: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(root, name);
    return statSync(path).isFile() && readFileSync(path, 'utf8').includes(text);
  });
