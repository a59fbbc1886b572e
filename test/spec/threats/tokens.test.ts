import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import {
  newToken,
  rejectedUpgrade,
  revokeToken,
  startTarget,
  TARGET_TOKEN,
  type Target,
  type TargetClient,
  type TargetClose,
  writeTokensFile,
} from '../../support/server/attack-target.ts';

const INVALID = 'Invalid authentication token';
const invalid: TargetClose = { code: 1008, reason: INVALID };
const closingRecords = [
  { type: 'server_error', error: INVALID, code: 'permission_denied' },
  { type: 'server_disconnected', reason: 'error', message: INVALID, code: 1008 },
];

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const statusWith = async (target: Target, headers: Record<string, string>) =>
  (await target.get('/api/me', { headers })).status;

it('[A2 A3 W23] a token is accepted in the query or as bearer, and checked on connect', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home);

  for (const client of [await target.connect({ token }), await target.connect({ token: null }, bearer(token))]) {
    await client.location();
    await client.ok({ type: 'get_state' });
  }
  const wrong = await target.connect({ token: 'wrong' });

  expect(await wrong.ended).toEqual(invalid);
});

it('[A4 W23] a wrong, missing, expired or revoked token is closed with 1008 after an error record', async () => {
  const home = newHome();
  const expired = { name: 'over', allowedPaths: [home.root], expiresAt: '2020-01-01T00:00:00Z' };
  const target = await startTarget({ home, args: ['--tokens', writeTokensFile(home, { 'over-long-ago': expired })] });
  const revoked = await newToken(target.home, { name: 'revoked' });
  await revokeToken(target.home, revoked.id);
  const attempts: Promise<TargetClient>[] = [
    target.connect({ token: 'wrong' }),
    target.connect({ token: '' }),
    target.connect({ token: null }),
    target.connect({ token: revoked.token }),
    target.connect({ token: `${TARGET_TOKEN}x` }),
    target.connect({ token: TARGET_TOKEN.slice(0, -1) }),
    target.connect({ token: TARGET_TOKEN.toUpperCase() }),
    target.connect({ token: null }, bearer('wrong')),
    target.connect({ token: 'over-long-ago' }),
  ];

  for (const client of await Promise.all(attempts)) {
    expect(await client.ended).toEqual(invalid);
    expect(client.records).toEqual(closingRecords);
  }
});

it('[A8 A4] a connection closes when its token expires', async () => {
  const home = newHome();
  const expiring = { name: 'soon', allowedPaths: [home.root], expiresAt: new Date(Date.now() + 4000).toISOString() };
  const target = await startTarget({ home, args: ['--tokens', writeTokensFile(home, { 'soon-over': expiring })] });
  const client = await target.connect({ token: 'soon-over' });

  expect(await client.ended).toEqual(invalid);
  expect(client.records.slice(-2)).toEqual(closingRecords);
  expect(await (await target.connect({ token: 'soon-over' })).ended).toEqual(invalid);
});

it('[A11] revoking a token closes its sockets and logins at once, and no others', async () => {
  const target = await startTarget();
  const revokedToken = await newToken(target.home, { name: 'gone' });
  const kept = await newToken(target.home, { name: 'kept' });
  const sockets = await Promise.all([revokedToken, revokedToken, kept].map(({ token }) => target.connect({ token })));
  await Promise.all(sockets.map((socket) => socket.location()));
  const login = await target.post('/api/login', { token: revokedToken.token });
  const cookie = String(login.headers['set-cookie']?.[0]).split(';')[0] ?? '';
  const page = await target.connect(
    { token: null },
    { headers: { cookie, origin: `http://127.0.0.1:${target.port}` } },
  );
  await page.location();

  await revokeToken(target.home, revokedToken.id);

  for (const socket of [...sockets.slice(0, 2), page]) {
    expect(await socket.ended).toEqual(invalid);
    expect(socket.records.slice(-2)).toEqual(closingRecords);
  }
  await sockets[2]?.ok({ type: 'get_state' });
  expect(await statusWith(target, { cookie })).toBe(401);
});

it('[A10 A11] a token has the scopes of the current tokens file', async () => {
  const home = newHome();
  const entry = { name: 'ann', allowedPaths: [home.root] };
  const path = writeTokensFile(home, { 'token-of-ann': entry });
  const target = await startTarget({ home, args: ['--tokens', path] });
  const before = await target.connect({ token: 'token-of-ann' });
  const { sessionId } = await before.location();
  await before.ok({ type: 'bash', command: 'true' });

  writeFileSync(path, JSON.stringify({ tokens: { 'token-of-ann': { ...entry, scopes: ['view'] } } }));

  expect(await before.ended).toEqual(invalid);
  const after = await target.connect({ token: 'token-of-ann', session: sessionId });
  expect(await after.refused({ type: 'bash', command: 'true' })).toMatchObject({ code: 'permission_denied' });
  await after.ok({ type: 'get_state' });
});

it('[A5 A10] tokens without scopes may view, prompt and run bash, but not send admin commands', async () => {
  const home = newHome();
  const path = writeTokensFile(home, {
    'client-1-token-abc123': { name: 'Work Laptop', allowedPaths: [home.cwd], createdAt: '2024-01-15T10:00:00Z' },
  });
  const target = await startTarget({ home, args: ['--tokens', path] });
  const client = await target.connect({ token: 'client-1-token-abc123' });

  await client.ok({ type: 'bash', command: 'true' });
  await client.run('say hello');
  const trust = await client.refused({ type: 'set_trust', trusted: true });
  const key = await client.refused({ type: 'set_credential', provider: 'openai', apiKey: 'sk-of-ann' });
  const removal = await client.refused({ type: 'remove_credential', provider: 'openai' });
  const nonsense = await client.refused({ type: 'set_credential' });

  for (const response of [trust, key, removal, nonsense]) expect(response).toMatchObject({ code: 'permission_denied' });
});

it('[A12 A20] after too many wrong tokens an address is refused further ones, but never a right credential', async () => {
  const target = await startTarget();
  const login = await target.post('/api/login', { token: TARGET_TOKEN });
  const cookie = String(login.headers['set-cookie']).replace(/;.*/, '');
  const guesses = Array.from({ length: 30 }, (_, index) =>
    target.connect({ token: `guess ${index}` }).catch((error) => error),
  );
  const outcomes = await Promise.all(guesses);
  const late = await rejectedUpgrade(target.connect({ token: 'one more' }));
  const { token: newest } = await newToken(target.home);

  expect(outcomes.filter((outcome) => 'status' in outcome).length).toBeGreaterThanOrEqual(20);
  expect(late.status).toBe(429);
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  expect(late.headers['x-content-type-options']).toBe('nosniff');
  // A wait may end between two requests; the next failure starts a longer one.
  await expect.poll(async () => (await target.post('/api/login', { code: 'wrong' })).status).toBe(429);
  await expect.poll(() => statusWith(target, { authorization: 'Bearer wrong' })).toBe(429);
  await (await target.connect()).location();
  await (await target.connect({ token: newest })).location();
  expect(await statusWith(target, { authorization: `Bearer ${TARGET_TOKEN}` })).toBe(200);
  expect(await statusWith(target, { cookie })).toBe(200);
  expect((await target.post('/api/login', { code: target.code })).status).toBe(200);
});

it('[A12] forwarding headers change the client address only behind a proxy', async () => {
  const direct = await startTarget();
  const proxied = await startTarget({ args: ['--behind-proxy'] });
  const headersFrom = (address: string) => ({ headers: { 'x-forwarded-for': address, forwarded: `for=${address}` } });
  const guess = (target: Target, index: number) =>
    target.connect({ token: `guess ${index}` }, headersFrom(`192.0.2.${index}`)).catch((error) => error);

  for (let index = 0; index < 15; index++) await Promise.all([guess(direct, index), guess(proxied, index)]);

  const wrong = { token: 'wrong' };
  expect((await rejectedUpgrade(direct.connect(wrong, headersFrom('192.0.2.200')))).status).toBe(429);
  expect((await (await proxied.connect(wrong, headersFrom('192.0.2.200'))).ended).code).toBe(1008);
});

it('[A21] a clock that is set back prolongs no wait', async () => {
  const home = newHome();
  const shim = join(home.root, 'clock.cjs');
  writeFileSync(
    shim,
    `const now = Date.now;
     let shift = 0;
     Date.now = () => now() + shift;
     process.on('SIGUSR2', () => { shift = -86_400_000; process.stderr.write('clock set back'); });`,
  );
  const target = await startTarget({ home, env: { NODE_OPTIONS: `--require ${shim}` } });
  const guess = () => target.get('/api/me', { headers: { authorization: 'Bearer wrong' } });
  for (let index = 0; index < 11; index++) await guess();

  process.kill(target.pid, 'SIGUSR2');
  await expect.poll(() => target.stderr()).toContain('clock set back');
  for (let index = 0; index < 3; index++) {
    const { headers } = await guess();
    expect(Number(headers['retry-after'] ?? 0)).toBeLessThanOrEqual(60);
  }
});

it('[A12 A20] during distributed guessing a right token is accepted from any address', async () => {
  const target = await startTarget({ args: ['--behind-proxy'] });
  const headersFrom = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const owner = headersFrom('198.51.100.1').headers;
  const statusFrom = async (address: string, token = TARGET_TOKEN) =>
    statusWith(target, { ...headersFrom(address).headers, authorization: `Bearer ${token}` });

  for (let network = 0; network < 310; network++) {
    const { headers } = headersFrom(`10.${network >> 8}.${network & 255}.1`);
    await statusWith(target, { ...headers, authorization: 'Bearer guess' });
  }

  expect(await statusFrom('203.0.113.7', 'guess')).toBe(429);
  expect(await statusFrom('203.0.113.7')).toBe(200);
  await (await target.connect({}, { headers: owner })).location();
});

it('[A13] only a token or a cookie of tau authenticates', async () => {
  const target = await startTarget();
  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJvd25lciJ9.';
  const others = [
    `Basic ${Buffer.from(`owner:${TARGET_TOKEN}`).toString('base64')}`,
    `Bearer ${jwt}`,
    `bearer`,
    TARGET_TOKEN,
    `Token ${TARGET_TOKEN}`,
    `Bearer ${TARGET_TOKEN} ${TARGET_TOKEN}`,
  ];

  for (const authorization of others) expect(await statusWith(target, { authorization })).toBe(401);
  expect(await statusWith(target, { cookie: `tau_${target.port}=${TARGET_TOKEN}` })).toBe(401);
  expect((await target.get(`/api/me?token=${TARGET_TOKEN}`)).status).toBe(401);
  for (const path of ['/oauth/authorize', '/authorize', '/token', '/.well-known/oauth-authorization-server']) {
    expect((await target.get(path)).status).toBe(404);
  }
});

it('[A6 A9] the token of the environment reaches no agent, no tool and no file', async () => {
  const target = await startTarget();
  const client = await target.connect();
  const { token } = await newToken(target.home);
  const { output } = await client.ok({
    type: 'bash',
    command:
      'env; tr "\\0" "\\n" < /proc/$PPID/environ; ps -eo args= | grep -v grep | grep tau.cjs; cat /proc/$PPID/cmdline',
  });
  await client.run('run `env`');
  const messages = JSON.stringify(await client.ok({ type: 'get_messages' }));

  for (const text of [output, messages]) {
    expect(text).toContain('PATH=');
    expect(text).not.toContain('PI_AUTH_TOKEN');
    expect(text).not.toContain(TARGET_TOKEN);
    expect(text).not.toContain(token);
  }
  expect(readFileSync(`${target.home.agentDir}/server/tokens.json`, 'utf8')).not.toContain(token);
});

it('[A29] the server lives on when its folder cannot be read, and keeps the tokens that it read last', async () => {
  const { target, token, folder } = await withMovedFolder();

  symlinkSync(folder, folder);

  await expect.poll(() => target.stderr()).toContain('ELOOP');
  expect(await statusWith(target, { authorization: `Bearer ${token}` })).toBe(200);
});

it('[A29] the server lives on when its folder is replaced by a file, and has no stored tokens', async () => {
  const { target, token, folder } = await withMovedFolder();

  writeFileSync(folder, '');

  await expect.poll(() => statusWith(target, { authorization: `Bearer ${token}` })).toBe(401);
  expect(await statusWith(target, { authorization: `Bearer ${TARGET_TOKEN}` })).toBe(200);
});

/** A target with a stored token, whose folder is no longer at its place. */
async function withMovedFolder() {
  const target = await startTarget();
  const { token } = await newToken(target.home);
  expect(await statusWith(target, { authorization: `Bearer ${token}` })).toBe(200);
  const folder = `${target.home.agentDir}/server`;
  renameSync(folder, `${folder}.moved`);
  return { target, token, folder };
}
