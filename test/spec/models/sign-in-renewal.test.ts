import { chmodSync, existsSync, mkdirSync, readdirSync, rmdirSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { OPENAI_TOKEN, openaiUser, type SignedInOptions } from '../../support/agent/signed-in.ts';
import { type Home, openTestAgent } from '../../support/agent/test-agent.ts';

const lockOf = ({ agentDir }: Home) => join(agentDir, 'auth.json.lock');

/** Makes a lock folder look as if its process had ended long ago. */
function makeStale(path: string): void {
  const then = new Date(Date.now() - 60_000);
  utimesSync(path, then, then);
}

describe('[L60] the lock folder of auth.json', () => {
  it('is held during a renewal and removed after it', async () => {
    const { issuer, api, home, args } = await openaiUser({ leftMs: -1 });
    let wasHeld = false;
    issuer.onRotated = () => {
      wasHeld = existsSync(lockOf(home));
    };
    api.respondWith({ text: 'In.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toEqual(['In.']);
    expect(wasHeld).toBe(true);
    expect(readdirSync(home.agentDir).filter((name) => name.startsWith('auth.json'))).toEqual(['auth.json']);
  });

  it.each([
    ['set_credential', { type: 'set_credential', provider: 'groq', apiKey: 'k' }],
    ['remove_credential', { type: 'remove_credential', provider: 'xai' }],
  ])('of another program delays %s until it is removed', async (_name, command) => {
    const { home, auth } = await openaiUser({ others: { xai: { type: 'api_key', key: 'x' } } });
    const before = auth();
    mkdirSync(lockOf(home));
    const { peer } = await openTestAgent('stdio', { home });

    const response = peer.ok(command);
    await peer.ok({ type: 'get_state' });
    expect(auth()).toEqual(before);
    rmdirSync(lockOf(home));
    await response;

    expect(auth()).not.toEqual(before);
  });

  it('is replaced if its process has ended', async () => {
    const { home, auth } = await openaiUser();
    mkdirSync(lockOf(home), { recursive: true });
    makeStale(lockOf(home));
    const { peer } = await openTestAgent('stdio', { home });

    await peer.ok({ type: 'set_credential', provider: 'groq', apiKey: 'k' });

    expect(auth()).toEqual({ groq: { type: 'api_key', key: 'k' } });
    expect(existsSync(lockOf(home))).toBe(false);
  });
});

describe('[L61] a stored sign-in', () => {
  it('with less than five minutes left is renewed before it is used; all other fields stay', async () => {
    const { issuer, api, home, args, auth } = await openaiUser({
      leftMs: 4 * 60_000,
      fields: { plan: 'pro' },
      others: { odd: [1], groq: { type: 'api_key', key: 'k', env: { A: 'b' } } },
    });
    const before = auth();
    api.respondWith({ text: 'In.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    const after = auth();
    expect(after).toMatchObject({ odd: [1], groq: before.groq, openai: { plan: 'pro', clientId: 'c1' } });
    expect(after.openai.access).not.toBe(before.openai.access);
    expect(after.openai.refresh).not.toBe(before.openai.refresh);
    expect(after.openai.expires).toBeGreaterThan(Date.now() + 3_000_000);
    expect((await api.request(0)).headers.authorization).toBe(`Bearer ${after.openai.access}`);
    const [request] = await issuer.received(OPENAI_TOKEN);
    expect(request?.fields).toEqual({
      grant_type: 'refresh_token',
      client_id: 'c1',
      refresh_token: before.openai.refresh,
      resource: 'https://api.openai.com/v1',
    });
    expect(statSync(join(home.agentDir, 'auth.json')).mode & 0o777).toBe(0o600);
  });

  it('with more time left is used as it is', async () => {
    const { issuer, api, home, args } = await openaiUser({ leftMs: 6 * 60_000 });
    api.respondWith({ text: 'In.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toEqual(['In.']);
    expect(issuer.requests).toEqual([]);
  });

  it('that lives only three minutes is not renewed for every request', async () => {
    const { issuer, api, home, args } = await openaiUser({ leftMs: -1 });
    issuer.expiresIn = 180;
    api.respondWith({ text: 'One.' }, { text: 'Two.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');
    await peer.run('again');

    expect(issuer.renewals).toBe(1);
  });

  it('keeps its refresh token if the issuer returns no new one', async () => {
    const { issuer, api, home, args, auth } = await openaiUser({ leftMs: -1 });
    issuer.keepsRefresh = true;
    const before = auth();
    api.respondWith({ text: 'In.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect(auth().openai.refresh).toBe(before.openai.refresh);
    expect(auth().openai.access).not.toBe(before.openai.access);
  });

  it('is renewed once by two processes that need it at the same time', async () => {
    const { issuer, api, home, args } = await openaiUser({ leftMs: -1 });
    api.respondWith({ text: 'In.' }, { text: 'In.' });
    const agents = await Promise.all([1, 2].map(() => openTestAgent('stdio', { home, args })));

    await Promise.all(agents.map(({ peer }) => peer.run('hi')));

    for (const { peer } of agents) expect(assistantTexts(peer.records)).toEqual(['In.']);
    expect(await issuer.received(OPENAI_TOKEN)).toHaveLength(1);
  });

  it('that another process renewed is read again for the next request', async () => {
    const { issuer, api, home, args, auth } = await openaiUser({ leftMs: 3_600_000 });
    const [first, second] = await Promise.all([1, 2].map(() => openTestAgent('stdio', { home, args })));
    api.respondWith({ text: 'One.' }, { status: 401 }, { text: 'Two.' }, { text: 'Three.' });
    await first?.peer.run('hi');
    await second?.peer.run('hi');

    await first?.peer.run('again');

    expect(issuer.renewals).toBe(1);
    expect((await api.request(3)).headers.authorization).toBe(`Bearer ${auth().openai.access}`);
  });

  it('is not renewed if it could not be stored', async () => {
    const { issuer, home, args } = await openaiUser({ leftMs: -1 });
    chmodSync(join(home.agentDir, 'auth.json'), 0o400);
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringContaining('auth.json is read-only'),
    });
    expect(issuer.requests).toEqual([]);
  });
});

describe('[L82] the cost of a session', () => {
  it.each<[string, SignedInOptions, object]>([
    ['with a plan is marked as an estimate', { leftMs: 3_600_000 }, { subscription: true }],
    ['with a key is not', { others: { openai: { type: 'api_key', key: 'k' } } }, {}],
  ])('%s', async (_what, options, expected) => {
    const { home, args } = await openaiUser(options);
    const { peer } = await openTestAgent('stdio', { home, args });

    const { subscription } = await peer.ok({ type: 'get_session_stats' });

    expect({ ...(subscription === undefined ? {} : { subscription }) }).toEqual(expected);
  });
});

describe('[L62] a sign-in that the API rejects with 401', () => {
  it('is renewed once and the request is repeated', async () => {
    const { issuer, api, home, args } = await openaiUser({ leftMs: 3_600_000 });
    api.respondWith({ status: 401, message: 'Token expired' }, { text: 'In.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toEqual(['In.']);
    expect(issuer.renewals).toBe(1);
    expect((await api.request(1)).headers.authorization).not.toBe((await api.request(0)).headers.authorization);
  });

  it('again after the renewal fails the run and names the remedy', async () => {
    const { issuer, api, home, args } = await openaiUser({ leftMs: 3_600_000 });
    api.respondWith({ status: 401, message: 'No access' }, { status: 401, message: 'No access' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringMatching(/No access.*Run: tau login openai$/),
    });
    expect(issuer.renewals).toBe(1);
    expect(api.requests).toHaveLength(2);
  });
});

describe('[L63] a renewal that fails', () => {
  it.each([
    [400, { error: 'invalid_grant' }],
    [401, { error: { code: 'refresh_token_reused', message: 'It was used before' } }],
    [401, { error: { code: 'refresh_token_expired' } }],
    [401, { error: { code: 'refresh_token_invalidated' } }],
  ])('for good (%i, %j) keeps the entry, uses no other key and names the remedy', async (status, body) => {
    const { issuer, api, home, args, auth } = await openaiUser({ leftMs: -1 });
    const before = auth();
    issuer.respond(OPENAI_TOKEN, { status, body });
    const { peer } = await openTestAgent('stdio', { home, args, env: { OPENAI_API_KEY: 'other' } });

    await peer.run('hi');
    await peer.run('again');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringMatching(
        /^No API key found for openai\. The sign-in for openai is no longer valid: .*Run: tau login openai$/,
      ),
    });
    expect(auth()).toEqual(before);
    expect(issuer.requests).toHaveLength(1);
    expect(api.requests).toEqual([]);
  });

  it.each<[string, object]>([
    ['a server error', { status: 503, body: '<html>try later</html>' }],
    ['too many requests', { status: 429, body: { error: 'slow' } }],
    ['a page of a proxy', { status: 200, body: '<html>log in to the network</html>' }],
  ])('for now, by %s, is tried again as the run is', async (_what, reply) => {
    const settings = { retry: { enabled: true, baseDelayMs: 1 } };
    const { issuer, api, home, args } = await openaiUser({ leftMs: -1, settings });
    issuer.respond(OPENAI_TOKEN, reply);
    api.respondWith({ text: 'In.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toContain('In.');
    expect(issuer.renewals).toBe(1);
  });

  it('while the sign-in is still valid does not fail the run', async () => {
    const { issuer, api, home, args, auth } = await openaiUser({ leftMs: 60_000 });
    const before = auth();
    issuer.respond(OPENAI_TOKEN, { status: 500 });
    api.respondWith({ text: 'In.' });
    const { peer } = await openTestAgent('stdio', { home, args });

    await peer.run('hi');

    expect((await api.request(0)).headers.authorization).toBe(`Bearer ${before.openai.access}`);
  });
});

describe('[L64] a renewal that has started', () => {
  it('is completed and stored although its run was aborted', async () => {
    const { issuer, home, args, auth } = await openaiUser({ leftMs: -1 });
    const before = auth();
    const agent = await openTestAgent('stdio', { home, args });
    const { peer } = agent;
    let finish = () => {};
    issuer.onRotated = () =>
      new Promise((resolve) => {
        finish = resolve;
      });
    await peer.ok({ type: 'prompt', message: 'hi' });
    await issuer.received(OPENAI_TOKEN);

    await peer.ok({ type: 'abort' });
    await waitUntilSettled(peer);
    finish();
    await agent.close();

    expect(auth().openai.refresh).not.toBe(before.openai.refresh);
  });

  it('leaves a valid file after a kill, and the next process reports that a login is needed', async () => {
    const { issuer, home, args, auth } = await openaiUser({ leftMs: -1 });
    const before = auth();
    const first = await openTestAgent('stdio', { home, args });
    issuer.onRotated = async () => {
      first.process?.kill('SIGKILL');
      await first.process?.exited;
    };
    await first.peer.ok({ type: 'prompt', message: 'hi' });
    await first.process?.exited;
    expect(auth()).toEqual(before);
    makeStale(lockOf(home));
    const second = await openTestAgent('stdio', { home, args });

    await second.peer.run('hi');

    expect(await waitUntilSettled(second.peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringContaining('Run: tau login openai'),
    });
    expect(auth()).toEqual(before);
  });
});

describe('[L79] a stored sign-in of a Claude plan', () => {
  it('is refused with the reason and the alternatives', async () => {
    const { home } = await openaiUser({
      others: { anthropic: { type: 'oauth', access: 'sk-ant-oat-1', refresh: 'r', expires: Date.now() + 3_600_000 } },
    });
    const { peer } = await openTestAgent('stdio', {
      home,
      args: ['--model', 'anthropic/claude-opus-5-5'],
      env: { ANTHROPIC_API_KEY: 'k' },
    });

    const refusal = await peer.refused({ type: 'prompt', message: 'hi' });

    expect(refusal['error']).toMatch(/^No API key found for anthropic\. Anthropic allows .* in its own programs only/);
    expect(await peer.refused({ type: 'login', providerId: 'anthropic' })).toMatchObject({ code: 'not_supported' });
  });
});
