import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { type Home, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { agentFileText, homeWithFiles, providerConfig } from '../../support/agent/user-files.ts';
import { anthropicApi } from '../../support/providers/anthropic-messages.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { sdkCompletions } from '../../support/providers/sdk-completions.ts';

const openOwnModel = (home: Home, env: Record<string, string> = {}, ...args: string[]) =>
  openTestAgent('stdio', { home, env, args: ['--model', 'own/m', ...args] });

describe('[L27] models.json', () => {
  it('describes a server with its key, headers and compatibility flags', async () => {
    const double = await ProviderDouble.start(completions);
    const home = homeWithFiles({
      models: {
        providers: {
          own: providerConfig(`${double.url}/v1/`, {
            apiKey: '$OWN_KEY',
            authHeader: true,
            headers: { 'X-Team': 'blue', 'X-Token': '$TOKEN', 'X-Made': '!echo made' },
            compat: { maxTokensField: 'max_tokens', supportsDeveloperRole: false, supportsStore: false },
            models: [{ id: 'm', headers: { 'X-Team': 'red' }, maxTokens: 77 }],
          }),
        },
      },
    });
    const { peer } = await openOwnModel(home, { OWN_KEY: 'sk-own', TOKEN: 'sk-token' });
    double.respondWith({ text: 'Hello.' });

    const { model } = await peer.ok({ type: 'get_state' });
    await peer.run('hi');

    expect(model).toMatchObject({
      name: 'm',
      contextWindow: 128_000,
      maxTokens: 77,
      reasoning: false,
      input: ['text'],
    });
    expect(JSON.stringify(model)).not.toContain('x-team');
    const { path, headers, body } = await double.request(0);
    expect(path).toBe('/v1/chat/completions');
    expect(headers).toMatchObject({
      authorization: 'Bearer sk-own',
      'x-team': 'red',
      'x-token': 'sk-token',
      'x-made': 'made',
    });
    expect(body).toMatchObject({ model: 'm', max_tokens: 77, messages: [{ role: 'system' }, { role: 'user' }] });
    expect(body).not.toHaveProperty('store');
    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
  });

  it('points a built-in provider at another address and overrides its models', async () => {
    const double = await ProviderDouble.start(anthropicApi);
    const change = { name: 'Mine', contextWindow: 5000, cost: { input: 1_000_000 } };
    const anthropic = {
      baseUrl: double.url,
      headers: { 'X-Via': 'gate' },
      modelOverrides: { 'claude-opus-5-5': change },
    };
    const home = homeWithFiles({ models: { providers: { anthropic } } });
    const { peer } = await openTestAgent('stdio', { home, env: { ANTHROPIC_API_KEY: 'sk-ant' } });
    double.respondWith({ text: 'Hello.', usage: { input: 2, output: 0 } });

    const { model } = await peer.ok({ type: 'get_state' });
    await peer.run('hi');

    expect(model).toMatchObject({
      provider: 'anthropic',
      id: 'claude-opus-5-5',
      ...change,
      cost: { input: 1_000_000 },
    });
    const { path, headers } = await double.request(0);
    expect(path).toBe('/v1/messages');
    expect(headers).toMatchObject({ 'x-api-key': 'sk-ant', 'x-via': 'gate' });
    expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ cost: 2 });
  });

  it('adds models to a built-in provider and replaces those of the same id', async () => {
    const own = providerConfig('http://127.0.0.1:1', {
      models: [{ id: 'new' }, { id: 'claude-opus-5-5', name: 'Other' }],
    });
    const home = homeWithFiles({ models: { providers: { anthropic: own } } });
    const { peer } = await openTestAgent('stdio', { home, env: { ANTHROPIC_API_KEY: 'sk-ant' } });

    const { models } = await peer.ok({ type: 'get_available_models' });

    const byId = new Map(models.map((model: { id: string }) => [model.id, model]));
    expect(byId.get('new')).toMatchObject({ provider: 'anthropic', baseUrl: 'http://127.0.0.1:1' });
    expect(byId.get('claude-opus-5-5')).toMatchObject({ name: 'Other', api: 'openai-completions' });
    expect(models.length).toBeGreaterThan(3);
  });

  it('may contain comments and is read again after a change', async () => {
    const double = await ProviderDouble.start(completions);
    const home = homeWithFiles({ models: '{ // nobody yet\n "providers": {}, }' });
    const agent = await openTestAgent('stdio', { home });
    expect(await agent.peer.refused({ type: 'set_model', provider: 'own', modelId: 'm' })).toMatchObject({
      error: 'Model not found: own/m',
    });

    writeFileSync(
      join(home.agentDir, 'models.json'),
      JSON.stringify({ providers: { own: providerConfig(double.url) } }),
    );

    double.respondWith({ text: 'Here now.' });
    await agent.peer.ok({ type: 'set_model', provider: 'own', modelId: 'm' });
    await agent.peer.run('hi');
    expect(assistantTexts(agent.peer.records)).toEqual(['Here now.']);
    expect((await double.request(0)).headers).not.toHaveProperty('authorization');
    expect(agent.process?.stderr()).toBe('');
  });

  it('can name an AI SDK package for a server', async () => {
    const double = await ProviderDouble.start(sdkCompletions);
    const home = homeWithFiles({
      models: {
        providers: { own: providerConfig(`${double.url}/v1`, { api: sdkCompletions.name, apiKey: 'sk-own' }) },
      },
    });
    const { peer } = await openOwnModel(home);
    double.respondWith(
      { text: 'Looking.', calls: [{ id: 'c1', name: 'bash', arguments: { command: 'echo found it' } }] },
      { text: 'Done.', usage: { input: 3, output: 4 } },
    );

    await peer.run('go');

    expect(assistantTexts(peer.records)).toEqual(['Looking.', 'Done.']);
    expect((await double.request(0)).headers).toMatchObject({ authorization: 'Bearer sk-own' });
    expect((await double.request(1)).text).toContain('found it');
    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  });

  it('can name a package that is not installed, which fails the run', async () => {
    const home = homeWithFiles({
      models: { providers: { own: providerConfig('http://127.0.0.1:1', { api: 'ai-sdk:@nobody/has-this' }) } },
    });
    const { peer } = await openOwnModel(home);

    await peer.run('go');

    expect(await waitUntilSettled(peer)).toMatchObject({
      outcome: 'error',
      errorMessage: expect.stringContaining('@nobody/has-this'),
    });
  });
});

describe('[L27] an invalid models.json', () => {
  const provider = (more: object) => ({ providers: { own: { ...providerConfig('http://127.0.0.1:1'), ...more } } });

  it.each<[string, unknown, RegExp]>([
    ['malformed JSON', '{"providers": {"own": sk-hunter2}}', /^models\.json: .*not valid JSON/],
    ['a list', '[]', /^models\.json: the file must hold an object$/],
    ['providers of a wrong type', { providers: 3 }, /^models\.json: providers must be an object$/],
    ['a provider of a wrong type', { providers: { own: 'x' } }, /^models\.json: providers\.own .*object/],
    ['a base URL of a wrong type', provider({ baseUrl: 3 }), /^models\.json: providers\.own\.baseUrl .*string/],
    [
      'a malformed base URL',
      provider({ baseUrl: 'nowhere' }),
      /^models\.json: providers\.own\.baseUrl must be an http or https URL.*$/,
    ],
    ['no base URL', provider({ baseUrl: undefined }), /^models\.json: providers\.own\.baseUrl is required/],
    ['no API', provider({ api: undefined }), /^models\.json: providers\.own\.api is required/],
    ['an unknown API', provider({ api: 'smoke' }), /^models\.json: providers\.own\.api must be one of .*ai-sdk:/],
    ['a model without id', provider({ models: [{}] }), /^models\.json: providers\.own\.models\[0\]\.id/],
    [
      'a window of a wrong type',
      provider({ models: [{ id: 'm', contextWindow: '8k' }] }),
      /models\[0\]\.contextWindow/,
    ],
    ['a header of a wrong type', provider({ headers: { a: 1 } }), /^models\.json: providers\.own\.headers\.a must be/],
    ['a key of a wrong type', provider({ apiKey: ['sk-hunter2'] }), /^models\.json: providers\.own\.apiKey .*string/],
  ])('with %s is reported in one line on stderr, and the agent continues', async (_what, models, line) => {
    const home = homeWithFiles({ models });
    const before = agentFileText(home, 'models.json');
    const agent = await openTestAgent('stdio', { home, script: [{ text: 'Still here.' }] });

    await agent.peer.run('hi');
    const found = await agent.peer.ok({ type: 'preflight' });
    await agent.close();

    expect(assistantTexts(agent.peer.records)).toEqual(['Still here.']);
    const stderr = agent.process?.stderr() ?? '';
    expect(stderr.split('\n')).toHaveLength(2);
    expect(stderr.replace(/^tau: /, '').trimEnd()).toMatch(line);
    expect(found).toMatchObject({ ok: true });
    expect(found.findings).toContainEqual(
      expect.objectContaining({
        check: 'model files',
        status: 'warning',
        message: expect.stringMatching(line.source.replace('$', '')),
      }),
    );
    expect(JSON.stringify(agent.peer.records) + stderr).not.toContain('hunter2');
    expect(agentFileText(home, 'models.json')).toBe(before);
  });

  it('that is a folder is reported and left unchanged', async () => {
    const home = newHome();
    mkdirSync(join(home.agentDir, 'models.json'), { recursive: true });

    const agent = await openTestAgent('stdio', { home, script: [{ text: 'Still here.' }] });
    await agent.peer.run('hi');
    await agent.close();

    expect(agent.process?.stderr()).toBe('tau: models.json: this is not a file\n');
  });

  it('with one invalid provider leaves the others usable', async () => {
    const double = await ProviderDouble.start(completions);
    const home = homeWithFiles({ models: { providers: { bad: { baseUrl: 3 }, own: providerConfig(double.url) } } });
    const agent = await openOwnModel(home);
    double.respondWith({ text: 'I am fine.' });

    await agent.peer.run('hi');

    expect(assistantTexts(agent.peer.records)).toEqual(['I am fine.']);
    expect(agent.process?.stderr()).toContain('tau: models.json: providers.bad.baseUrl');
  });
});

describe('a key command', () => {
  const withKey = (apiKey: string, url = 'http://127.0.0.1:1') =>
    homeWithFiles({ models: { providers: { own: providerConfig(url, { apiKey }) } } });

  it('runs once, on first use, in the folder of the file', async () => {
    const double = await ProviderDouble.start(completions);
    const home = withKey('!echo run >> runs; echo sk-own', double.url);
    const { peer } = await openOwnModel(home);
    double.respondWith({ text: 'one' }, { text: 'two' });
    await peer.ok({ type: 'get_available_models' });
    await peer.ok({ type: 'preflight' });
    expect(() => agentFileText(home, 'runs')).toThrow('ENOENT');

    await peer.run('hi');
    await peer.run('again');

    expect(agentFileText(home, 'runs')).toBe('run\n');
    expect(double.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-own', 'Bearer sk-own']);
  });

  it.each([
    ['fails', '!exit 3', 'ended with code 3'],
    ['prints nothing', '!true', 'printed nothing'],
  ])('that %s fails the run with file and field, and the agent continues', async (_what, apiKey, text) => {
    const home = withKey(apiKey);
    const before = agentFileText(home, 'models.json');
    const { peer } = await openOwnModel(home);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      outcome: 'error',
      errorCode: 'auth_failed',
      errorMessage: `No API key found for own. models.json: providers.own.apiKey: The command \`${apiKey.slice(1)}\` ${text}`,
    });
    await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted' });
    await peer.run('and you?');
    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
    expect(agentFileText(home, 'models.json')).toBe(before);
  });

  it('that hangs delays neither an abort nor the exit', async () => {
    const home = withKey('!echo $$ > started; exec sleep 1000');
    execFileSync('mkfifo', [join(home.agentDir, 'started')]);
    const agent = await openOwnModel(home);
    const { peer } = agent;
    await peer.ok({ type: 'prompt', message: 'hi' });
    await readFile(join(home.agentDir, 'started'));

    await peer.ok({ type: 'abort' });

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
    await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted' });
    await peer.run('and you?');
    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
    await agent.close();
    expect(await agent.process?.exited).toEqual({ code: 0, signal: null });
  });
});

it('a model removed from models.json is reported by name, and the session is unchanged', async () => {
  const double = await ProviderDouble.start(completions);
  const home = homeWithFiles({
    models: { providers: { own: providerConfig(double.url, { models: [{ id: 'm' }, { id: 'n' }] }) } },
  });
  double.respondWith({ text: 'one' }, { text: 'two' });
  const first = await openOwnModel(home);
  await first.peer.run('hi');
  const { sessionFile } = await first.peer.ok({ type: 'get_state' });
  await first.close();
  const before = readFileSync(sessionFile, 'utf8');
  const change = (text: unknown) => writeFileSync(join(home.agentDir, 'models.json'), JSON.stringify(text));

  change({ providers: { own: providerConfig(double.url, { models: [{ id: 'n' }] }) } });
  const again = await openTestAgent('stdio', { home, args: ['--session', sessionFile] });
  const refusal = await again.peer.refused({ type: 'prompt', message: 'go on' });
  const { model } = await again.peer.ok({ type: 'get_state' });
  await again.close();
  change({ providers: {} });
  const last = await openTestAgent('stdio', { home, args: ['--session', sessionFile] });
  const other = await last.peer.refused({ type: 'prompt', message: 'go on' });
  await last.close();

  expect(model).toBeNull();
  expect(refusal).toMatchObject({ code: 'model_not_found', error: 'Model not found: own/m' });
  expect(other).toMatchObject({
    code: 'model_not_found',
    error: 'No API key found for own. There is no such provider: describe providers.own in models.json.',
  });
  expect(readFileSync(sessionFile, 'utf8')).toBe(before);
});
