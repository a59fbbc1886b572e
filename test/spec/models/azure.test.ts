import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import { agentFileText, homeWithFiles, type UserFiles } from '../../support/agent/user-files.ts';
import { completions } from '../../support/providers/completions.ts';
import { fakeCommands } from '../../support/providers/fake-commands.ts';
import { responsesApi } from '../../support/providers/openai-responses.ts';
import { type Api, ProviderDouble } from '../../support/providers/provider-double.ts';

const KEY = 'azure-secret-key';

interface AzureOptions {
  readonly api?: Api;
  readonly files?: UserFiles;
  readonly env?: Record<string, string>;
  readonly model?: string;
}

async function openAzure({ api = responsesApi, files = {}, env = {}, model = 'azure/gpt-5.4' }: AzureOptions = {}) {
  const double = await ProviderDouble.start(api);
  const home = homeWithFiles(files);
  const commands = fakeCommands(home);
  const agent = await openTestAgent('stdio', {
    home,
    env: { AZURE_OPENAI_BASE_URL: `${double.url}/openai/v1/`, ...commands.env, ...env },
    args: ['--model', model],
  });
  return { ...agent, double, commands };
}

describe('[L94] Azure', () => {
  it('gets the key in its own header, no version in the query, and the deployment for the model', async () => {
    const { peer, double } = await openAzure({
      env: { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_DEPLOYMENT_NAME_MAP: 'gpt-4o=old, gpt-5.4 = team-gpt' },
    });
    double.respondWith({ text: 'Hello.' });

    await peer.run('hi');

    const { path, headers, body } = await double.request(0);
    expect(path).toBe('/openai/v1/responses');
    expect(headers).toMatchObject({ 'api-key': KEY });
    expect(headers).not.toHaveProperty('authorization');
    expect(body).toMatchObject({ model: 'team-gpt', store: false });
    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
    expect((await peer.ok({ type: 'get_state' })).model).toMatchObject({ provider: 'azure', id: 'gpt-5.4' });
  });

  it('gets another version in the query, and models of other makers over chat completions', async () => {
    const { peer, double } = await openAzure({
      api: completions,
      env: { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_API_VERSION: 'preview' },
      model: 'azure/deepseek-v4-pro',
    });
    double.respondWith({ text: 'Hello.' });

    await peer.run('hi');

    const { path, headers, body } = await double.request(0);
    expect(path).toBe('/openai/v1/chat/completions?api-version=preview');
    expect(headers).toMatchObject({ 'api-key': KEY });
    expect(body).toMatchObject({ model: 'deepseek-v4-pro' });
  });

  it('is found by its old id in settings, in auth.json and by --model, and variables of auth.json win', async () => {
    const files = {
      settings: { defaultProvider: 'azure-openai-responses', defaultModel: 'gpt-5.4' },
      auth: {
        'azure-openai-responses': {
          type: 'api_key',
          key: KEY,
          env: { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: 'gpt-5.4=mine' },
        },
      },
    };
    const { peer, double } = await openAzure({
      files,
      env: { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: 'gpt-5.4=theirs' },
      model: 'azure-openai-responses/gpt-5.4',
    });
    double.respondWith({ text: 'One.' }, { text: 'Two.' });

    await peer.run('hi');
    await peer.ok({ type: 'set_model', provider: 'azure-openai-responses', modelId: 'gpt-4o' });
    await peer.run('hi');

    expect(double.requests.map(({ body }) => body.model)).toEqual(['mine', 'gpt-4o']);
    expect(double.requests[0]?.headers).toMatchObject({ 'api-key': KEY });
  });

  it('is found by its old id in a session', async () => {
    const { home, peer, double, close } = await openAzure({ env: { AZURE_OPENAI_API_KEY: KEY } });
    double.respondWith({ text: 'One.' }, { text: 'Two.' });
    await peer.run('hi');
    await close();
    const [file = ''] = sessionFiles(home);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"azure"', '"azure-openai-responses"'));

    const env = { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_BASE_URL: double.url };
    const resumed = await openTestAgent('stdio', { home, env, args: ['--continue'] });
    await resumed.peer.run('again');

    expect((await resumed.peer.ok({ type: 'get_state' })).model).toMatchObject({ provider: 'azure', id: 'gpt-5.4' });
    expect(assistantTexts(resumed.peer.records)).toContain('Two.');
  });

  it('a content filter is reported in its words and not retried', async () => {
    const { peer, double } = await openAzure({
      files: { settings: { retry: { baseDelayMs: 1 } } },
      env: { AZURE_OPENAI_API_KEY: KEY },
    });
    const error = { code: 'content_filter', message: 'The response was filtered due to the prompt', status: 400 };
    double.respondWith({ status: 400, body: JSON.stringify({ error }) });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      outcome: 'error',
      errorCode: 'model_error',
      errorMessage: expect.stringContaining('filtered due to the prompt'),
    });
    expect(double.requests).toHaveLength(1);
  });

  it('with a key but without an address is not offered, and the reason names the variable', async () => {
    const home = homeWithFiles({});
    const { peer } = await openTestAgent('stdio', { home, env: { AZURE_OPENAI_API_KEY: KEY } });

    const { models } = await peer.ok({ type: 'get_available_models' });

    expect(models.filter(({ provider }: { provider: string }) => provider === 'azure')).toEqual([]);
    expect(await peer.refused({ type: 'set_model', provider: 'azure', modelId: 'gpt-5.4' })).toMatchObject({
      error: 'azure cannot be used. Set AZURE_OPENAI_RESOURCE_NAME or AZURE_OPENAI_BASE_URL.',
    });
  });
});

describe('[L95] Entra ID', () => {
  const files = { models: { providers: { azure: { credentials: 'entra' } } } };
  const tokenJson = (token: string, seconds = 3600) =>
    JSON.stringify({ accessToken: token, expires_on: Math.floor(Date.now() / 1000) + seconds });

  it('gives a token by the command az, which runs once for two requests', async () => {
    const { peer, double, commands } = await openAzure({ files });
    commands.write('az', `echo '${tokenJson('entra-token-1')}'`);
    double.respondWith({ text: 'One.' }, { text: 'Two.' });

    await peer.run('hi');
    await peer.run('hi');

    expect(double.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer entra-token-1',
      'Bearer entra-token-1',
    ]);
    expect(double.requests[0]?.headers).not.toHaveProperty('api-key');
    expect(commands.calls()).toEqual([
      'az account get-access-token --resource https://cognitiveservices.azure.com --output json',
    ]);
  });

  it('gives a new token when fewer than five minutes are left, or when the server rejects one', async () => {
    const { peer, double, commands } = await openAzure({ files });
    commands.write('az', `echo '${tokenJson('nearly-over', 240)}'`);
    double.respondWith({ text: 'One.' }, { status: 401, message: 'Too old' }, { text: 'Two.' });

    await peer.run('hi');
    commands.write('az', `echo '${tokenJson('revoked-token')}'`);
    await peer.run('hi');

    expect(double.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer nearly-over',
      'Bearer revoked-token',
      'Bearer revoked-token',
    ]);
    expect(commands.calls()).toHaveLength(3);
  });

  it.each([
    ['fails', 'echo leaked-secret; exit 3', 'ended with code 3'],
    ['prints rubbish', 'echo leaked-secret', 'printed no credentials that tau can read'],
    ['prints nothing', 'true', 'printed nothing'],
    ['is not installed', 'exit 127', 'is not installed'],
    ['prints an expired token', `echo '${JSON.stringify({ accessToken: 'leaked-secret', expires_on: 1 })}'`, 'expired'],
  ])('by a command that %s fails the run without what it printed', async (_what, script, reason) => {
    const { peer, double, commands, process } = await openAzure({ files });
    commands.write('az', script);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      outcome: 'error',
      errorCode: 'auth_failed',
      errorMessage: expect.stringContaining(reason),
    });
    expect(double.requests).toEqual([]);
    expect(JSON.stringify(peer.records) + process?.stderr()).not.toContain('leaked-secret');
  });

  it('gives a token for client credentials, whose secret stays out of every record', async () => {
    const issuer = await ProviderDouble.start(completions);
    const env = {
      AZURE_TENANT_ID: 'tenant',
      AZURE_CLIENT_ID: 'client',
      AZURE_CLIENT_SECRET: 'client-secret-1',
      AZURE_AUTHORITY_HOST: issuer.url,
    };
    const { peer, double } = await openAzure({ files: { ...files, auth: { azure: { type: 'api_key', env } } } });
    issuer.respondWith(
      { status: 401, body: JSON.stringify({ error: 'invalid_client', error_description: 'client-secret-1 is wrong' }) },
      { status: 200, body: JSON.stringify({ access_token: 'issued-token', expires_in: 3599 }) },
    );
    double.respondWith({ text: 'Hello.' });

    await peer.run('hi');
    const refused = await waitUntilSettled(peer);
    await peer.run('hi');

    expect(refused).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringContaining('invalid_client'),
    });
    const { path, text } = await issuer.request(1);
    expect(path).toBe('/tenant/oauth2/v2.0/token');
    expect(Object.fromEntries(new URLSearchParams(text))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'client',
      client_secret: 'client-secret-1',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
    expect(double.requests[0]?.headers).toMatchObject({ authorization: 'Bearer issued-token' });
    expect(JSON.stringify(peer.records)).not.toMatch(/client-secret-1|issued-token/);
  });
});

it('[L94] set_credential keeps the variables that auth.json has for the provider', async () => {
  const env = { AZURE_OPENAI_DEPLOYMENT_NAME_MAP: 'gpt-5.4=mine' };
  const { peer, home } = await openAzure({
    files: { auth: { azure: { type: 'api_key', env } } },
    env: { AZURE_OPENAI_API_KEY: KEY },
  });

  await peer.ok({ type: 'set_credential', provider: 'azure', apiKey: 'new-key' });

  expect(JSON.parse(agentFileText(home, 'auth.json'))).toEqual({ azure: { type: 'api_key', key: 'new-key', env } });
});
