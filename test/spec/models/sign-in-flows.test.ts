import { describe, expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { authFile } from '../../support/agent/signed-in.ts';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { homeWithFiles } from '../../support/agent/user-files.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { completions } from '../../support/providers/completions.ts';
import { IssuerDouble, type IssuerReply } from '../../support/providers/issuer-double.ts';
import { responsesApi } from '../../support/providers/openai-responses.ts';
import { type Api, ProviderDouble } from '../../support/providers/provider-double.ts';

interface UserOptions {
  readonly signIn?: object;
  readonly auth?: object;
  readonly api?: Api;
  readonly args?: readonly string[];
}

/** A user of one provider whose issuer and API are doubles. */
async function userOf(provider: string, { signIn, auth, api = completions, args = [] }: UserOptions = {}) {
  const issuer = await IssuerDouble.start();
  const double = await ProviderDouble.start(api);
  const home = homeWithFiles({
    models: { providers: { [provider]: { baseUrl: double.url, signIn: { issuer: issuer.url, ...signIn } } } },
    ...(auth ? { auth } : {}),
  });
  const { peer } = await openTestAgent('stdio', { home, args });
  return { issuer, double, home, peer };
}

const requestOf = (method: string) => (record: WireRecord) =>
  record.type === 'extension_ui_request' && record['method'] === method;

/** Starts a login and returns its response when it is there. */
function startLogin(peer: Peer, providerId: string): Promise<WireRecord> {
  peer.send({ type: 'login', id: 'in', providerId });
  return peer.find((record) => record.type === 'response' && record['id'] === 'in');
}

/** Selects a model and returns the request of a prompt. */
async function firstRequest(peer: Peer, double: ProviderDouble, model: readonly [string, string]) {
  await peer.ok({ type: 'set_model', provider: model[0], modelId: model[1] });
  double.respondWith({ text: 'In.' });
  await peer.run('hi');
  expect(assistantTexts(peer.records)).toEqual(['In.']);
  return double.request(0);
}

describe('[L74] the sign-in of OpenRouter', () => {
  it('creates a key that never expires, at a random path of any free port', async () => {
    const { issuer, double, home, peer } = await userOf('openrouter');
    const response = startLogin(peer, 'openrouter');
    const { url } = await peer.next(requestOf('open_url'));

    const redirect = issuer.approve(url);
    expect((await fetch(redirect.replace(/callback\/[^?]+/, 'callback/guess'))).status).toBe(404);
    await fetch(redirect);

    expect(await response).toMatchObject({ success: true });
    expect(redirect).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\/[\w-]{43}\?code=/);
    const { openrouter } = authFile(home);
    expect(openrouter).toMatchObject({ type: 'oauth', refresh: '', expires: Number.MAX_SAFE_INTEGER });
    const { headers } = await firstRequest(peer, double, ['openrouter', '~google/gemini-pro-latest']);
    expect(headers.authorization).toBe(`Bearer ${openrouter.access}`);
    const [exchange] = await issuer.received('/api/v1/auth/keys');
    expect(exchange?.fields).toMatchObject({ code_challenge_method: 'S256' });
  });

  it('accepts a pasted code', async () => {
    const { issuer, peer } = await userOf('openrouter');
    const response = startLogin(peer, 'openrouter');
    const { url } = await peer.next(requestOf('open_url'));
    const { id } = await peer.next(requestOf('input'));

    peer.send({ type: 'extension_ui_response', id, value: new URL(issuer.approve(url)).searchParams.get('code') });

    expect(await response).toMatchObject({ success: true });
  });
});

describe('[L75] a sign-in with a device code', () => {
  it.each<[string, string, string, Api]>([
    ['xai', 'grok-4.7', '/oauth2/token', responsesApi],
    ['kimi-coding', 'k3.1-pro', '/api/oauth/token', completions],
  ])('of %s polls until the user has confirmed, and its token is sent', async (provider, model, path, api) => {
    const { issuer, double, home, peer } = await userOf(provider, { api });
    issuer.respond(path, { status: 400, body: { error: 'authorization_pending' } });

    const response = startLogin(peer, provider);

    expect(await peer.next(requestOf('open_url'))).toMatchObject({
      url: `${issuer.url}/device`,
      instructions: 'Enter the code ABCD-1234',
    });
    expect(await response).toMatchObject({ success: true });
    const polls = await issuer.received(path, 2);
    expect(polls[0]?.fields['grant_type']).toBe('urn:ietf:params:oauth:grant-type:device_code');
    const { headers } = await firstRequest(peer, double, [provider, model]);
    expect(headers.authorization).toBe(`Bearer ${authFile(home)[provider].access}`);
  });

  it.each<[string, IssuerReply, string]>([
    ['denies', { status: 400, body: { error: 'access_denied' } }, 'The login was denied'],
    ['lets expire', { status: 400, body: { error: 'expired_token' } }, 'The code has expired'],
    ['does not accept', { status: 400, body: { error: 'invalid_client' } }, 'invalid_client'],
  ])('that the issuer %s fails and stores nothing', async (_what, reply, text) => {
    const { issuer, peer } = await userOf('xai');
    issuer.respond('/oauth2/token', reply);

    const response = await startLogin(peer, 'xai');

    expect(response).toMatchObject({ success: false, code: 'login_failed', error: expect.stringContaining(text) });
    expect((await peer.ok({ type: 'get_login_providers' })).providers[2]).toMatchObject({ authenticated: false });
  });

  it('is refused if the issuer names no http address', async () => {
    const { issuer, peer } = await userOf('xai');
    const body = { device_code: 'd', user_code: 'u', verification_uri: 'javascript:alert(1)', expires_in: 60 };
    issuer.respond('/oauth2/device/code', { body });

    expect(await startLogin(peer, 'xai')).toMatchObject({
      success: false,
      error: expect.stringContaining('without an http address'),
    });
    expect(peer.records.filter(requestOf('open_url'))).toEqual([]);
  });

  it('ends on abort', async () => {
    const { issuer, peer } = await userOf('xai');
    const response = startLogin(peer, 'xai');
    await peer.next(requestOf('open_url'));

    await peer.ok({ type: 'abort' });

    expect(await response).toMatchObject({ success: false, error: 'The login was cancelled' });
    expect(issuer.requests).toHaveLength(1);
  });

  it('of Meta creates a key for a day with the identity token, also when it is renewed', async () => {
    const { issuer, double, home, peer } = await userOf('meta', { api: responsesApi });

    expect(await startLogin(peer, 'meta')).toMatchObject({ success: true });

    const { meta } = authFile(home);
    const [mint] = await issuer.received('/muse-code/key');
    expect(mint?.headers.authorization).toBe(`Bearer ${meta.refresh}`);
    expect(meta.expires).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    double.respondWith({ status: 401 }, { text: 'In.' });
    await peer.ok({ type: 'set_model', provider: 'meta', modelId: 'muse-spark-1.3' });
    await peer.run('hi');
    expect(await issuer.received('/muse-code/key', 2)).toHaveLength(2);
    expect(authFile(home).meta.refresh).toBe(meta.refresh);
    expect((await double.request(1)).headers.authorization).toBe(`Bearer ${authFile(home).meta.access}`);
  });
});

describe('[L76] the sign-in of GitHub Copilot', () => {
  const CLIENT = { signIn: { clientId: 'Ov-own' } };

  async function logIn(peer: Peer) {
    const response = startLogin(peer, 'github-copilot');
    const { id } = await peer.next(requestOf('select'));
    peer.send({ type: 'extension_ui_response', id, value: 'GitHub.com' });
    expect(await response).toMatchObject({ success: true });
  }

  it('requires the id of an own application', async () => {
    const { peer } = await userOf('github-copilot');

    expect(await startLogin(peer, 'github-copilot')).toMatchObject({
      success: false,
      error: expect.stringContaining('tau has no application of its own at GitHub'),
    });
  });

  it('stores the token of GitHub and lists the models that the account may use', async () => {
    const { issuer, home, peer } = await userOf('github-copilot', CLIENT);

    await logIn(peer);

    const [start] = await issuer.received('/login/device/code');
    expect(start?.fields).toEqual({ client_id: 'Ov-own', scope: 'read:user' });
    const stored = authFile(home)['github-copilot'];
    expect(stored).toMatchObject({ availableModelIds: ['gpt-6-sol', 'claude-opus-5.5'] });
    expect(stored.access).toBe(stored.refresh);
    const { models } = await peer.ok({ type: 'get_available_models' });
    expect(models.map(({ id }: { id: string }) => id).sort()).toEqual(['claude-opus-5.5', 'gpt-6-sol']);
  });

  it('stores the token also if the list of models cannot be loaded', async () => {
    const { issuer, home, peer } = await userOf('github-copilot', CLIENT);
    issuer.respond('/models', { status: 500 });

    await logIn(peer);

    expect(authFile(home)['github-copilot']).toMatchObject({ access: expect.any(String), availableModelIds: [] });
  });

  it('counts a prompt as a request of the user and the turns after it as those of the agent', async () => {
    const token = 'gh-token-1';
    const { double, peer } = await userOf('github-copilot', {
      api: responsesApi,
      // As pi stores it: the token of GitHub beside one for editors that has expired.
      auth: { 'github-copilot': { type: 'oauth', access: 'editor', refresh: token, expires: 1 } },
      args: ['--model', 'github-copilot/gpt-6-sol'],
    });
    double.respondWith({ calls: [{ id: 'c1', name: 'ls', arguments: {} }] }, { text: 'Done.' });

    await peer.run('list');

    const [first, second] = [await double.request(0), await double.request(1)];
    expect(first.headers).toMatchObject({ authorization: `Bearer ${token}`, 'x-initiator': 'user' });
    expect(second.headers['x-initiator']).toBe('agent');
    expect(first.headers['user-agent']).toMatch(/^tau\//);
    for (const name of ['editor-version', 'editor-plugin-version', 'copilot-integration-id'])
      expect(first.headers).not.toHaveProperty(name);
    expect(first.headers).not.toHaveProperty('copilot-vision-request');
  });
});

describe('[L77] the sign-in of Codex', () => {
  it('polls for a code, and its requests follow the rules of its server', async () => {
    const { issuer, double, home, peer } = await userOf('openai-codex', { api: responsesApi });
    const poll = '/api/accounts/deviceauth/token';
    issuer.respond(poll, { status: 403 }, { status: 404 });

    expect(await startLogin(peer, 'openai-codex')).toMatchObject({ success: true });

    expect(await issuer.received(poll, 3)).toHaveLength(3);
    const stored = authFile(home)['openai-codex'];
    expect(stored.accountId).toBe('account-1');
    const request = await firstRequest(peer, double, ['openai-codex', 'gpt-6.1-sol']);
    expect(request.path).toBe('/codex/responses');
    expect(request.headers).toMatchObject({
      authorization: `Bearer ${stored.access}`,
      'chatgpt-account-id': 'account-1',
      originator: 'tau',
      'openai-beta': 'responses=experimental',
      'session-id': expect.any(String),
    });
    expect(request.body).toMatchObject({
      store: false,
      stream: true,
      instructions: expect.stringContaining(' '),
      include: ['reasoning.encrypted_content'],
    });
    expect(request.body).not.toHaveProperty('max_output_tokens');
  });

  it('continues to poll after a lost connection', async () => {
    const { issuer, peer } = await userOf('openai-codex', { api: responsesApi });
    issuer.respond('/api/accounts/deviceauth/token', { drops: true });

    expect(await startLogin(peer, 'openai-codex')).toMatchObject({ success: true });
  });
});

describe('[L78] a used-up window of a plan', () => {
  it('is reported with the time of its end and not retried', async () => {
    const resetsAt = Math.floor(Date.UTC(2030, 0, 2, 3, 4) / 1000);
    const { double, peer } = await userOf('openai-codex', {
      api: responsesApi,
      auth: {
        'openai-codex': { type: 'oauth', access: 'a-token', refresh: 'r-token', expires: Date.now() + 3_600_000 },
      },
      args: ['--model', 'openai-codex/gpt-6.1-sol'],
    });
    await peer.ok({ type: 'set_auto_retry', enabled: true });
    const error = { type: 'usage_limit_reached', message: 'The usage limit has been reached', resets_at: resetsAt };
    double.respondWith({ status: 429, body: JSON.stringify({ error }), headers: { 'retry-after': '1' } });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'rate_limited',
      errorMessage: expect.stringContaining('until 2030-01-02 03:04 UTC'),
    });
    expect(double.requests).toHaveLength(1);
  });
});
