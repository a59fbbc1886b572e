import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  type TargetClose,
  newToken,
  TARGET_TOKEN,
  rejectedUpgrade,
  revokeToken,
  startTarget,
  type Target,
  writeTokensFile,
  type TargetClient,
} from '../../support/server/attack-target.ts';
import { newHome } from '../../support/agent/test-agent.ts';

const INVALID = 'Invalid authentication token';
const invalid: TargetClose = { code: 1008, reason: INVALID };
const lastWords = [
  { type: 'server_error', error: INVALID, code: 'permission_denied' },
  { type: 'server_disconnected', reason: 'error', message: INVALID, code: 1008 },
];

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const statusWith = async (target: Target, headers: Record<string, string>) =>
  (await target.get('/api/me', { headers })).status;

it('[A2 A3 W23] a token comes in the query or as bearer; it is looked at when the client connects', async () => {
  const target = await startTarget();
  const { token } = await newToken(target.home);

  for (const visitor of [await target.connect({ token }), await target.connect({ token: null }, bearer(token))]) {
    await visitor.location();
    await visitor.ok({ type: 'get_state' });
  }
  const wrong = await target.connect({ token: 'wrong' });

  expect(await wrong.ended).toEqual(invalid);
});

it('[A4 W23] a token that is wrong, missing, expired or taken back is closed with 1008, and told why before', async () => {
  const home = newHome();
  const over = { name: 'over', allowedPaths: [home.root], expiresAt: '2020-01-01T00:00:00Z' };
  const target = await startTarget({ home, args: ['--tokens', writeTokensFile(home, { 'over-long-ago': over })] });
  const revoked = await newToken(target.home, { name: 'revoked' });
  await revokeToken(target.home, revoked.id);
  const tried: Promise<TargetClient>[] = [
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

  for (const visitor of await Promise.all(tried)) {
    expect(await visitor.ended).toEqual(invalid);
    expect(visitor.records).toEqual(lastWords);
  }
});

it('[A8 A4] a token that ends while its client is connected ends the connection', async () => {
  const home = newHome();
  const soon = { name: 'soon', allowedPaths: [home.root], expiresAt: new Date(Date.now() + 4000).toISOString() };
  const target = await startTarget({ home, args: ['--tokens', writeTokensFile(home, { 'soon-over': soon })] });
  const visitor = await target.connect({ token: 'soon-over' });

  expect(await visitor.ended).toEqual(invalid);
  expect(visitor.records.slice(-2)).toEqual(lastWords);
  expect(await (await target.connect({ token: 'soon-over' })).ended).toEqual(invalid);
});

it('[A11] a token that is taken back by another process loses its open sockets at once, and no other does', async () => {
  const target = await startTarget();
  const gone = await newToken(target.home, { name: 'gone' });
  const kept = await newToken(target.home, { name: 'kept' });
  const sockets = await Promise.all([gone, gone, kept].map(({ token }) => target.connect({ token })));
  await Promise.all(sockets.map((socket) => socket.location()));
  const login = await target.post('/api/login', { token: gone.token });
  const cookie = String(login.headers['set-cookie']?.[0]).split(';')[0] ?? '';
  const page = await target.connect({ token: null }, { headers: { cookie, origin: `http://127.0.0.1:${target.port}` } });
  await page.location();

  await revokeToken(target.home, gone.id);

  for (const socket of [...sockets.slice(0, 2), page]) {
    expect(await socket.ended).toEqual(invalid);
    expect(socket.records.slice(-2)).toEqual(lastWords);
  }
  await sockets[2]?.ok({ type: 'get_state' });
  expect(await statusWith(target, { cookie })).toBe(401);
});

it('[A10 A11] what a token may do is what its file says now', async () => {
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

it('[A5 A10] the tokens of a plain file may view, prompt and run commands, but nothing of the administrator', async () => {
  const home = newHome();
  const path = writeTokensFile(home, {
    'client-1-token-abc123': { name: 'Work Laptop', allowedPaths: [home.cwd], createdAt: '2024-01-15T10:00:00Z' },
  });
  const target = await startTarget({ home, args: ['--tokens', path] });
  const visitor = await target.connect({ token: 'client-1-token-abc123' });

  await visitor.ok({ type: 'bash', command: 'true' });
  await visitor.run('say hello');
  const trust = await visitor.refused({ type: 'set_trust', trusted: true });
  const key = await visitor.refused({ type: 'set_credential', provider: 'openai', apiKey: 'sk-of-ann' });
  const removal = await visitor.refused({ type: 'remove_credential', provider: 'openai' });
  const nonsense = await visitor.refused({ type: 'set_credential' });

  for (const answer of [trust, key, removal, nonsense]) expect(answer).toMatchObject({ code: 'permission_denied' });
});

it('[A12] too many wrong tokens are refused before the upgrade, right ones too, and over HTTP alike', async () => {
  const target = await startTarget();
  const guesses = Array.from({ length: 30 }, (_, index) => target.connect({ token: `guess ${index}` }).catch((e) => e));
  const outcomes = await Promise.all(guesses);
  const late = await rejectedUpgrade(target.connect({ token: 'one more' }));
  const right = await rejectedUpgrade(target.connect());

  expect(outcomes.filter((outcome) => 'status' in outcome).length).toBeGreaterThanOrEqual(20);
  for (const answer of [late, right]) {
    expect(answer.status).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  }
  expect(await statusWith(target, { authorization: `Bearer ${TARGET_TOKEN}` })).toBe(429);
  expect((await target.post('/api/login', { code: target.code })).status).toBe(429);
  expect((await target.get('/healthz')).status).toBe(200);
});

it('[A12] no header makes an address a new one; behind a proxy its word does', async () => {
  const alone = await startTarget();
  const behind = await startTarget({ args: ['--behind-proxy'] });
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address, forwarded: `for=${address}` } });
  const guess = (target: Target, index: number) =>
    target.connect({ token: `guess ${index}` }, from(`192.0.2.${index}`)).catch((error) => error);

  for (let index = 0; index < 15; index++) await Promise.all([guess(alone, index), guess(behind, index)]);

  expect((await rejectedUpgrade(alone.connect({}, from('192.0.2.200')))).status).toBe(429);
  await (await behind.connect({}, from('192.0.2.200'))).location();
});

it('[A12] when everybody guesses, those who have shown a right token before still come in', async () => {
  const target = await startTarget({ args: ['--behind-proxy'] });
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const owner = from('198.51.100.1').headers;
  const me = async (address: string) =>
    statusWith(target, { ...from(address).headers, authorization: `Bearer ${TARGET_TOKEN}` });
  expect(await me('198.51.100.1')).toBe(200);

  for (let network = 0; network < 310; network++) {
    const { headers } = from(`10.${network >> 8}.${network & 255}.1`);
    await statusWith(target, { ...headers, authorization: 'Bearer guess' });
  }

  expect(await me('203.0.113.7')).toBe(429);
  expect(await me('198.51.100.1')).toBe(200);
  await (await target.connect({}, { headers: owner })).location();
});

it('[A13] nothing but a token or a cookie of ours lets anybody in', async () => {
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
  const visitor = await target.connect();
  const { token } = await newToken(target.home);
  const { output } = await visitor.ok({
    type: 'bash',
    command:
      'env; tr "\\0" "\\n" < /proc/$PPID/environ; ps -eo args= | grep -v grep | grep tau.cjs; cat /proc/$PPID/cmdline',
  });
  await visitor.run('run `env`');
  const messages = JSON.stringify(await visitor.ok({ type: 'get_messages' }));

  for (const said of [output, messages]) {
    expect(said).toContain('PATH=');
    expect(said).not.toContain('PI_AUTH_TOKEN');
    expect(said).not.toContain(TARGET_TOKEN);
    expect(said).not.toContain(token);
  }
  expect(readFileSync(`${target.home.agentDir}/server/tokens.json`, 'utf8')).not.toContain(token);
});
