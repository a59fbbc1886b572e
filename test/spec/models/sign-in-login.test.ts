import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { authFile, OPENAI_TOKEN, openaiUser } from '../../support/agent/signed-in.ts';
import { type Home, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { homeWithFiles } from '../../support/agent/user-files.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

/** A loopback address of its own for the fixed callback port: tests run at the same time. */
const newLoopback = () => `127.${[1, 2, 3].map(() => 1 + Math.floor(Math.random() * 250)).join('.')}`;

const requestOf = (method: string) => (record: WireRecord) =>
  record.type === 'extension_ui_request' && record['method'] === method;

/** Starts a login of the ChatGPT plan and returns its address and its open dialog. */
async function startLogin(host = newLoopback()) {
  const user = await openaiUser();
  const agent = await openTestAgent('stdio', { ...user, env: { PI_OAUTH_CALLBACK_HOST: host } });
  const { peer } = agent;
  peer.send({ type: 'login', id: 'in', providerId: 'openai' });
  const { url } = await peer.next(requestOf('open_url'));
  const dialog = await peer.next(requestOf('input'));
  const response = () => peer.find((record) => record.type === 'response' && record['id'] === 'in');
  const paste = (value: string) => peer.send({ type: 'extension_ui_response', id: dialog.id, value });
  return { ...user, agent, peer, url: url as string, dialog, host, response, paste };
}

/** Opens the address as the browser would, at the loopback address of the test. */
const browse = (address: string, host: string, options: RequestInit = {}) =>
  fetch(address.replace('127.0.0.1:1455', `${host}:1455`), options);

verifies(
  'L66',
  'get_login_providers lists the providers with a sign-in and whether there is a credential',
  async ({ open }) => {
    const home = homeWithFiles({ auth: { xai: { type: 'api_key', key: 'k' } } });
    const { peer } = await open({ home });

    const { providers } = await peer.ok({ type: 'get_login_providers' });

    expect(providers.find(({ id }: { id: string }) => id === 'xai')).toEqual({
      id: 'xai',
      name: 'xAI (Grok plan)',
      available: true,
      authenticated: true,
    });
    expect(providers.map(({ id }: { id: string }) => id)).toEqual([
      'openai',
      'openrouter',
      'xai',
      'kimi-coding',
      'github-copilot',
      'meta',
      'openai-codex',
    ]);
    expect(providers.find(({ id }: { id: string }) => id === 'github-copilot').available).toBe(false);
  },
);

describe('[L67] login', () => {
  it('shows the address, takes the callback, stores the sign-in and makes its models usable', async () => {
    const { peer, issuer, api, url, host, response, home, dialog } = await startLogin();
    api.respondWith({ text: 'In.' });

    const page = await browse(issuer.approve(url, { client_id: 'issued-1' }), host);

    expect(await response()).toMatchObject({
      success: true,
      data: { providerId: 'openai', models: expect.any(Number) },
    });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('You can close this window');
    expect(authFile(home).openai).toMatchObject({ type: 'oauth', clientId: 'issued-1' });
    expect(await peer.find('extension_ui_resolved')).toMatchObject({ id: dialog.id });
    await peer.run('hi');
    expect(assistantTexts(peer.records)).toEqual(['In.']);
    expect(statSync(join(home.agentDir, 'auth.json')).mode & 0o777).toBe(0o600);
  });

  it.each<[string, (address: string) => string]>([
    ['the whole address', (address) => address],
    [
      'the address with spaces and line breaks of a terminal',
      (address) => ` ${address.replace('code=', 'co\nde=')} \n`,
    ],
    ['its query', (address) => address.split('?')[1] ?? ''],
  ])('accepts %s as pasted text', async (_what, edit) => {
    const { issuer, url, response, paste, home } = await startLogin();

    paste(edit(issuer.approve(url, { client_id: 'issued-1' })));

    expect(await response()).toMatchObject({ success: true });
    expect(authFile(home).openai.clientId).toBe('issued-1');
  });

  it.each<[string, (address: string) => string, string]>([
    ['a bare code', (address) => new URL(address).searchParams.get('code') ?? '', 'paste the whole address'],
    ['the address of another login', (address) => address.replace(/state=[^&]+/, 'state=other'), 'another sign-in'],
    ['nothing', () => '', 'Nothing was pasted'],
  ])('explains %s and requests the text again', async (_what, edit, problem) => {
    const { peer, issuer, url, response, paste } = await startLogin();
    const address = issuer.approve(url, { client_id: 'issued-1' });

    paste(edit(address));
    expect(await peer.next(requestOf('notify'))).toMatchObject({ message: expect.stringContaining(problem) });
    const again = await peer.next(requestOf('input'));
    peer.send({ type: 'extension_ui_response', id: again.id, value: address });

    expect(await response()).toMatchObject({ success: true });
  });

  it('ends when the dialog is cancelled, and stores nothing', async () => {
    const { peer, response, dialog, home } = await startLogin();

    peer.send({ type: 'extension_ui_response', id: dialog.id, cancelled: true });

    expect(await response()).toMatchObject({ success: false, code: 'login_failed', error: 'The login was cancelled' });
    expect(readdirSync(home.agentDir)).not.toContain('auth.json');
  });

  it('ends on abort, and delays no other command before', async () => {
    const { peer, response } = await startLogin();

    await peer.ok({ type: 'set_session_name', name: 'meanwhile' });
    expect(await peer.ok({ type: 'bash', command: 'echo meanwhile' })).toMatchObject({ output: 'meanwhile\n' });
    await peer.ok({ type: 'abort' });

    expect(await response()).toMatchObject({ success: false, code: 'login_failed' });
  });

  it('ends with the input of the client', async () => {
    const { agent } = await startLogin();

    await agent.close();

    expect(await agent.process?.exited).toMatchObject({ code: 0 });
  });

  it.each<[string, object]>([
    ['shows no dialogs', { ui: [] }],
    ['shows no addresses', { ui: ['input', 'select', 'notify'] }],
  ])('is refused for a client that %s', async (_what, hello) => {
    const { home } = await openaiUser();
    const { peer } = await openTestAgent('stdio', { home });
    await peer.ok({ type: 'hello', ...hello });

    expect(await peer.refused({ type: 'login', providerId: 'openai' })).toMatchObject({ code: 'not_supported' });
  });

  it('to a provider without a sign-in is refused', async () => {
    const { peer } = await openTestAgent('stdio');

    expect(await peer.refused({ type: 'login', providerId: 'groq' })).toMatchObject({
      code: 'not_found',
      error: 'Unknown OAuth provider: groq',
    });
  });
});

describe('[L68] the callback of a login', () => {
  it('ignores requests that are not the right one', async () => {
    const { issuer, url, host, response } = await startLogin();
    const right = issuer.approve(url, { client_id: 'issued-1' });
    const at = new URL(right);
    const attempts: [string, RequestInit][] = [
      [`${at.origin}/favicon.ico`, {}],
      [right, { method: 'HEAD' }],
      [right, { method: 'POST' }],
      [right.replace(/state=[^&]+/, 'state=other'), {}],
      [right.replace(/code=[^&]+&?/, ''), {}],
      [`${at.origin}${at.pathname}?error=access_denied&state=other`, {}],
    ];

    const statuses: number[] = [];
    for (const [address, options] of attempts) statuses.push((await browse(address, host, options)).status);
    const accepted = await browse(right, host);

    expect(statuses).toEqual([404, 405, 405, 400, 400, 400]);
    expect(accepted.status).toBe(200);
    expect(await response()).toMatchObject({ success: true });
  });

  it('reports the error of the issuer', async () => {
    const { url, host, response } = await startLogin();
    const { searchParams } = new URL(url);
    const error = `?error=access_denied&error_description=Not+allowed&state=${searchParams.get('state')}`;

    await browse(`http://127.0.0.1:1455/auth/callback${error}`, host);

    expect(await response()).toMatchObject({ success: false, error: 'The login failed: Not allowed' });
  });

  it('is not needed: if the port is in use, the address can be pasted', async () => {
    const host = newLoopback();
    const other = createServer().listen(1455, host);
    onTestFinished(() => void other.close());
    const { peer, issuer, url, response, paste } = await startLogin(host);

    paste(issuer.approve(url, { client_id: 'issued-1' }));

    expect(await response()).toMatchObject({ success: true });
    expect(await peer.find(requestOf('notify'))).toMatchObject({
      message: expect.stringContaining('Port 1455 is in use'),
    });
  });

  it('of a code that the issuer rejects fails the login and stores nothing', async () => {
    const { issuer, url, host, response, home } = await startLogin();
    issuer.respond(OPENAI_TOKEN, {
      status: 400,
      body: { error: 'invalid_grant', error_description: 'Wrong verifier' },
    });

    await browse(issuer.approve(url, { client_id: 'issued-1' }), host);

    expect(await response()).toMatchObject({ success: false, error: expect.stringContaining('Wrong verifier') });
    expect(readdirSync(home.agentDir)).not.toContain('auth.json');
  });
});

describe('[L73] the sign-in with ChatGPT', () => {
  it('registers a client of its own for the API and uses the issued id from then on', async () => {
    const { issuer, url, host, response, home } = await startLogin();
    const { pathname, searchParams } = new URL(url);
    await browse(issuer.approve(url, { client_id: 'issued-1' }), host);
    await response();

    const asked = Object.fromEntries(searchParams);
    expect(pathname).toBe('/api/accounts/authorize');
    expect(asked).toMatchObject({
      client_id: 'dynamic_agent_client',
      agent_name_hint: 'tau',
      redirect_uri: 'http://127.0.0.1:1455/auth/callback',
      resource: 'https://api.openai.com/v1',
      scope: 'openid profile email offline_access resource.invoke chatgpt.tokens.use.direct',
      code_challenge_method: 'S256',
      response_type: 'code',
    });
    const settings = JSON.parse(readFileSync(join(home.agentDir, 'settings.json'), 'utf8'));
    expect(asked['ext_agent_host_id']).toBe(`urn:uuid:${settings.deviceId}`);
    const [exchange] = await issuer.received(OPENAI_TOKEN);
    expect(exchange?.fields).toMatchObject({ client_id: 'issued-1', resource: 'https://api.openai.com/v1' });
    expect(authFile(home).openai.scopes).toContain('chatgpt.tokens.use.direct');
  });

  it('fails if the plan may not be used at the API', async () => {
    const { issuer, url, host, response } = await startLogin();
    const body = { access_token: 'a-token', refresh_token: 'r-token', expires_in: 60, scope: 'openid' };
    issuer.respond(OPENAI_TOKEN, { body });

    await browse(issuer.approve(url, { client_id: 'issued-1' }), host);

    expect(await response()).toMatchObject({ success: false, error: expect.stringContaining('was not shared') });
  });
});

describe('[L81] the secrets of a sign-in', () => {
  it('are written to auth.json only', async () => {
    const user = await openaiUser();
    const { home, issuer, api } = user;
    const host = newLoopback();
    const log = join(home.root, 'log.jsonl');
    const agent = await openTestAgent('stdio', {
      ...user,
      args: [...user.args, '--log-level', 'debug', '--log-file', log],
      env: { PI_OAUTH_CALLBACK_HOST: host },
    });
    const { peer } = agent;
    peer.send({ type: 'login', id: 'in', providerId: 'openai' });
    const { url } = await peer.next(requestOf('open_url'));
    await browse(issuer.approve(url, { client_id: 'issued-1' }), host);
    await peer.find((record) => record.type === 'response' && record['id'] === 'in');
    const { access } = authFile(home).openai;
    api.respondWith({ status: 401, message: `Bad token ${access}` }, { text: 'In.' }, { status: 401 });
    await peer.run('hi');
    const { refresh } = authFile(home).openai;
    issuer.respond(OPENAI_TOKEN, {
      status: 401,
      body: { error: { code: 'refresh_token_reused', message: `${refresh}` } },
    });
    await peer.run('again');
    await agent.close();

    const written = JSON.stringify(peer.records) + agent.process?.stderr() + textsBelow(home);
    expect([...issuer.secrets].filter((secret) => written.includes(secret))).toEqual([]);
  });
});

/** The text of every file of a home but auth.json. */
const textsBelow = ({ root }: Home): string =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'auth.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');

describe('[L80] the login of an extension', () => {
  const code = (url: string) => `export default (pi) => pi.registerProvider('acme', {
    baseUrl: ${JSON.stringify(url)}, api: 'openai-completions',
    models: [{ id: 'm' }, { id: 'other' }],
    oauth: {
      name: 'Acme', isSubscription: true,
      async login(callbacks) {
        callbacks.onProgress('Starting');
        const kind = await callbacks.onSelect({ message: 'Which?', options: [{ id: 'a', label: 'First' }, { id: 'b', label: 'Second' }] });
        callbacks.onDeviceCode({ userCode: 'WXYZ', verificationUri: 'https://acme.test/device' });
        const name = await callbacks.onPrompt({ message: 'Name?', placeholder: 'you' });
        callbacks.onAuth({ url: 'https://acme.test/auth', instructions: 'Go' });
        const code = await callbacks.onManualCodeInput();
        return { access: [kind, name, code].join('/'), refresh: 'r', expires: Date.now() + 3600000, tenant: 't' };
      },
      refreshToken: async (credential) => credential,
      getApiKey: (credential) => 'key of ' + credential.access,
      modifyModels: (models, credential) => models.filter(({ id }) => id === 'm' && credential.tenant === 't'),
    },
  });`;

  async function answer(peer: Peer, method: string, value: string): Promise<WireRecord> {
    const dialog = await peer.next(requestOf(method));
    peer.send({ type: 'extension_ui_response', id: dialog.id, value });
    return dialog;
  }

  it('uses the same dialogs, and its result is stored and used', async () => {
    const double = await ProviderDouble.start(completions);
    const home = newHome();
    userExtension(home, 'acme.ts', code(double.url));
    const { peer } = await openTestAgent('stdio', { home });
    await peer.run('hi');
    peer.send({ type: 'login', id: 'in', providerId: 'acme' });

    expect(await peer.next(requestOf('notify'))).toMatchObject({ message: 'Starting' });
    expect(await answer(peer, 'select', 'Second')).toMatchObject({ title: 'Which?', options: ['First', 'Second'] });
    expect(await peer.next(requestOf('open_url'))).toMatchObject({
      url: 'https://acme.test/device',
      instructions: 'Enter the code WXYZ',
    });
    expect(await answer(peer, 'input', 'Ann')).toMatchObject({ title: 'Name?', placeholder: 'you' });
    expect(await peer.next(requestOf('open_url'))).toMatchObject({ url: 'https://acme.test/auth', instructions: 'Go' });
    await answer(peer, 'input', 'c1');

    expect(await peer.find((record) => record['id'] === 'in')).toMatchObject({ data: { models: 1 } });
    expect(authFile(home).acme).toMatchObject({ type: 'oauth', access: 'b/Ann/c1', tenant: 't' });
    const { providers } = await peer.ok({ type: 'get_login_providers' });
    expect(providers[0]).toEqual({ id: 'acme', name: 'Acme', available: true, authenticated: true });
    const { models } = await peer.ok({ type: 'get_available_models' });
    expect(models.map(({ id }: { id: string }) => id)).toEqual(['m']);
    await peer.ok({ type: 'set_model', provider: 'acme', modelId: 'm' });
    double.respondWith({ text: 'In.' });
    await peer.run('hi');
    expect((await double.request(0)).headers.authorization).toBe('Bearer key of b/Ann/c1');
  });
});
