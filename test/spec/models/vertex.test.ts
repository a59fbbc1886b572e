import { createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { homeWithFiles } from '../../support/agent/user-files.ts';
import { anthropicApi } from '../../support/providers/anthropic-messages.ts';
import { completions } from '../../support/providers/completions.ts';
import { fakeCommands } from '../../support/providers/fake-commands.ts';
import { googleApi } from '../../support/providers/google-generative-ai.ts';
import { type Api, ProviderDouble } from '../../support/providers/provider-double.ts';

const PLACE = { GOOGLE_CLOUD_PROJECT: 'my-project', GOOGLE_CLOUD_LOCATION: 'europe-west1' };
const user = {
  type: 'authorized_user',
  client_id: 'client',
  client_secret: 'client-secret-1',
  refresh_token: 'refresh-token-1',
};

interface VertexOptions {
  readonly api?: Api;
  readonly model?: string;
  readonly env?: Record<string, string>;
  /** The file of the application default credentials; `token_uri` is added. */
  readonly credentials?: object | string;
}

async function openVertex({
  api = googleApi,
  model = 'gemini-2.5-flash',
  env = PLACE,
  credentials,
}: VertexOptions = {}) {
  const [double, issuer] = await Promise.all([ProviderDouble.start(api), ProviderDouble.start(completions)]);
  const claude = { id: 'claude-sonnet-4-5@20250929', api: 'google-vertex', reasoning: true, maxTokens: 8000 };
  const home = homeWithFiles({
    models: { providers: { 'google-vertex': { baseUrl: double.url, models: [claude] } } },
  });
  const commands = fakeCommands(home);
  if (credentials !== undefined) {
    const folder = join(home.root, '.config/gcloud');
    mkdirSync(folder, { recursive: true });
    const text =
      typeof credentials === 'string'
        ? credentials
        : JSON.stringify({ ...credentials, token_uri: `${issuer.url}/token` });
    writeFileSync(join(folder, 'application_default_credentials.json'), text);
  }
  const open = (more: Record<string, string> = {}) =>
    openTestAgent('stdio', {
      home,
      env: { ...commands.env, ...env, ...more },
      args: ['--model', `google-vertex/${model}`],
    });
  return { double, issuer, commands, home, open };
}

const token = (value: string, seconds = 3599) => ({
  status: 200,
  body: JSON.stringify({ access_token: value, expires_in: seconds, token_type: 'Bearer' }),
});

describe('[L100] Vertex', () => {
  it('calls Gemini in the project and location, with a token of the signed-in user that is kept', async () => {
    const { double, issuer, open } = await openVertex({ credentials: user });
    const { peer } = await open();
    issuer.respondWith(token('user-token'));
    double.respondWith({ text: 'One.' }, { text: 'Two.' });

    await peer.run('first');
    await peer.run('second');

    expect(assistantTexts(peer.records)).toEqual(['One.', 'Two.']);
    expect(double.requests[0]).toMatchObject({
      path: '/v1/projects/my-project/locations/europe-west1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      headers: { authorization: 'Bearer user-token' },
      body: { contents: [{ role: 'user' }] },
    });
    expect(issuer.requests).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(issuer.requests[0]?.text))).toEqual({
      grant_type: 'refresh_token',
      client_id: 'client',
      client_secret: 'client-secret-1',
      refresh_token: 'refresh-token-1',
    });
    expect(JSON.stringify(peer.records)).not.toMatch(/user-token|client-secret-1|refresh-token-1/);
  });

  it('calls Claude by its own API', async () => {
    const { double, issuer, open } = await openVertex({
      api: anthropicApi,
      model: 'claude-sonnet-4-5@20250929:low',
      credentials: user,
      env: { ANTHROPIC_VERTEX_PROJECT_ID: 'other-project', CLOUD_ML_REGION: 'global' },
    });
    const { peer } = await open();
    issuer.respondWith(token('user-token'));
    double.respondWith({ thinking: 'Hm.', text: 'Hello.', usage: { input: 3, output: 2 } });

    await peer.run('hi');

    const { path, headers, body } = await double.request(0);
    expect(path).toBe(
      '/v1/projects/other-project/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    );
    expect(headers).toMatchObject({
      authorization: 'Bearer user-token',
      'anthropic-beta': 'interleaved-thinking-2025-05-14',
    });
    expect(headers).not.toHaveProperty('x-api-key');
    expect(body).toMatchObject({
      anthropic_version: 'vertex-2023-10-16',
      stream: true,
      thinking: { type: 'enabled', budget_tokens: 2048 },
    });
    expect(body).not.toHaveProperty('model');
    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
  });

  it('takes an API key without project and location', async () => {
    const { double, open } = await openVertex({ env: { GOOGLE_CLOUD_API_KEY: 'vertex-key' } });
    const { peer } = await open();
    double.respondWith({ text: 'Hello.' });

    await peer.run('hi');

    expect(await double.request(0)).toMatchObject({
      path: '/v1/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
      headers: { 'x-goog-api-key': 'vertex-key' },
    });
  });

  it('keeps the whole message of a model that a location does not have', async () => {
    const { double, issuer, open } = await openVertex({ credentials: user });
    const { peer } = await open();
    issuer.respondWith(token('user-token'));
    const message =
      'Publisher Model `gemini-2.5-flash` was not found in europe-west1, or your project has no access to it.';
    double.respondWith({ status: 404, body: JSON.stringify([{ error: { code: 404, message, status: 'NOT_FOUND' } }]) });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({ errorMessage: `404 ${message} (NOT_FOUND)` });
  });

  it.each<[string, VertexOptions, boolean]>([
    ['without credentials', {}, false],
    ['with credentials, but without a location', { credentials: user, env: { GOOGLE_CLOUD_PROJECT: 'p' } }, false],
    ['with credentials, project and location', { credentials: user }, true],
    ['with an API key', { env: { GOOGLE_CLOUD_API_KEY: 'vertex-key' } }, true],
  ])('%s is offered or not', async (_what, options, isOffered) => {
    const { open } = await openVertex(options);
    const { peer } = await open();

    const { models } = await peer.ok({ type: 'get_available_models' });

    expect(models.some(({ provider }: { provider: string }) => provider === 'google-vertex')).toBe(isOffered);
  });
});

describe('[L101] application default credentials', () => {
  it('of a service account are exchanged by a signed assertion, again when the server rejects the token', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { double, issuer, open } = await openVertex({
      credentials: {
        type: 'service_account',
        client_email: 'me@my-project.iam.gserviceaccount.com',
        private_key_id: 'key-1',
        private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      },
    });
    const { peer } = await open();
    issuer.respondWith(token('first-token'), token('second-token'));
    double.respondWith({ status: 401, message: 'Expired first-token' }, { text: 'Hello.' });

    await peer.run('hi');

    expect(double.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer first-token',
      'Bearer second-token',
    ]);
    const form = new URLSearchParams((await issuer.request(0)).text);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const [header = '', claims = '', signature = ''] = form.get('assertion')?.split('.') ?? [];
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    const { iat, exp, ...named } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    expect(named).toEqual({
      iss: 'me@my-project.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${issuer.url}/token`,
    });
    expect(exp - iat).toBe(3600);
    const verifier = createVerify('RSA-SHA256').update(`${header}.${claims}`);
    expect(verifier.verify(publicKey, signature, 'base64url')).toBe(true);
  });

  it('come from the metadata server of the machine', async () => {
    const { double, issuer, open } = await openVertex({});
    const { peer } = await open({ GCE_METADATA_HOST: new URL(issuer.url).host });
    issuer.respondWith(token('machine-token'));
    double.respondWith({ text: 'Hello.' });

    await peer.run('hi');

    expect(await issuer.request(0)).toMatchObject({
      path: '/computeMetadata/v1/instance/service-accounts/default/token',
      headers: { 'metadata-flavor': 'Google' },
    });
    expect(double.requests[0]?.headers).toMatchObject({ authorization: 'Bearer machine-token' });
  });

  it('of another account come from the command gcloud', async () => {
    const { double, commands, open } = await openVertex({ credentials: { type: 'external_account' } });
    const { peer } = await open();
    commands.write('gcloud', 'echo ya29.a-token-of-another-account');
    double.respondWith({ text: 'Hello.' });

    await peer.run('hi');

    expect(commands.calls()).toEqual(['gcloud auth application-default print-access-token']);
    expect(double.requests[0]?.headers).toMatchObject({ authorization: 'Bearer ya29.a-token-of-another-account' });
  });

  it.each<[string, object | string, string]>([
    ['is no JSON', '{ leaked-secret', 'holds no JSON object'],
    ['has an unknown type', { type: 'leaked-secret' }, 'has a type of credentials that tau does not support'],
    ['lacks a field', { type: 'authorized_user', client_id: 'leaked-secret' }, 'has no client_secret'],
    ['has been revoked', { ...user, refresh_token: 'leaked-secret' }, 'gave no token: 400 invalid_grant'],
  ])('in a file that %s fail the run without its content', async (_what, credentials, reason) => {
    const { double, issuer, open } = await openVertex({ credentials });
    const { peer, process } = await open();
    issuer.respondWith({
      status: 400,
      body: JSON.stringify({ error: 'invalid_grant', error_description: 'leaked-secret' }),
    });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringContaining(reason),
    });
    expect(double.requests).toEqual([]);
    expect(JSON.stringify(peer.records) + process?.stderr()).not.toContain('leaked-secret');
  });
});
