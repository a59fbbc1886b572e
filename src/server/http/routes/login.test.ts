import { expect, it } from 'vitest';
import { startServer } from '../testing/test-server.ts';

const headers = { 'content-type': 'application/json' };
const post = (body: object, more: object = {}) => ({
  method: 'POST',
  headers: { ...headers, ...more },
  body: JSON.stringify(body),
});

it('[W44] a one-time code is exchanged for a cookie once', async () => {
  const { get, failures } = await startServer();

  const first = await get('/api/login', post({ code: 'one-time-code' }));
  const second = await get('/api/login', post({ code: 'one-time-code' }));

  expect(first).toMatchObject({
    status: 200,
    headers: { 'set-cookie': ['login=token-of-ann; HttpOnly; SameSite=Strict'] },
  });
  expect(JSON.parse(first.body)).toEqual({ name: "ann's token", scopes: ['view', 'prompt', 'bash', 'admin'] });
  expect(second.status).toBe(401);
  expect(second.headers).not.toHaveProperty('set-cookie');
  expect(failures).toEqual(['127.0.0.1']);
});

it('[W44] a token is exchanged for a cookie, which then identifies the client', async () => {
  const { get } = await startServer();

  const { headers } = await get('/api/login', post({ token: 'token-of-bob' }));
  const [cookie = ''] = headers['set-cookie'] ?? [];
  const me = await get('/api/me', { headers: { cookie } });

  expect(JSON.parse(me.body)).toEqual({ name: "bob's token", scopes: ['prompt'] });
});

it('[W44] behind a proxy with TLS the cookie is Secure', async () => {
  const { get } = await startServer({ listen: { behindProxy: true } });

  const { headers } = await get('/api/login', post({ token: 'token-of-ann' }, { 'x-forwarded-proto': 'https' }));

  expect(headers['set-cookie']).toEqual(['login=token-of-ann; HttpOnly; SameSite=Strict; Secure']);
});

it('[W44 A20] after too many wrong attempts further ones have to wait, valid credentials do not', async () => {
  const { get } = await startServer();
  for (const code of ['a', 'b']) await get('/api/login', post({ code }));
  await get('/api/me', { headers: { authorization: 'Bearer wrong' } });

  const responses = [
    await get('/api/login', post({ code: 'wrong' })),
    await get('/api/me', { headers: { authorization: 'Bearer wrong' } }),
  ];

  for (const { status, headers, body } of responses) {
    expect([status, headers['retry-after'], JSON.parse(body).code]).toEqual([429, '2', 'rate_limited']);
  }
  expect((await get('/api/me', { headers: { cookie: 'login=token-of-ann' } })).status).toBe(200);
  expect((await get('/api/me', { headers: { authorization: 'Bearer token-of-ann' } })).status).toBe(200);
  expect((await get('/api/login', post({ code: 'one-time-code' }))).status).toBe(200);
});

it('[W44] logout clears the cookie, also an expired one', async () => {
  const { get } = await startServer();

  const response = await get('/api/logout', { method: 'POST', headers: { cookie: 'login=forgotten' } });

  expect(response).toMatchObject({ status: 200, headers: { 'set-cookie': ['login=; Max-Age=0'] } });
});

it('[W46] with a cookie, a changing request must come from an own page', async () => {
  const { get, port } = await startServer();
  const cookie = 'login=token-of-ann';
  const own = `http://127.0.0.1:${port}`;
  const logout = async (more: object) =>
    (await get('/api/logout', { method: 'POST', headers: { cookie, ...more } })).status;

  expect(await logout({})).toBe(403);
  expect(await logout({ 'sec-fetch-site': 'same-site' })).toBe(403);
  expect(await logout({ 'sec-fetch-site': 'none' })).toBe(403);
  expect(await logout({ 'sec-fetch-site': 'cross-site', origin: 'http://evil.example' })).toBe(403);
  expect(await logout({ origin: own })).toBe(200);
  expect(await logout({ 'sec-fetch-site': 'same-origin' })).toBe(200);
});

it('[W46] a cookie sent by another site is ignored', async () => {
  const { get } = await startServer();
  const look = async (site?: string) => {
    const more = site === undefined ? {} : { 'sec-fetch-site': site };
    return (await get('/api/me', { headers: { cookie: 'login=token-of-ann', ...more } })).status;
  };

  expect([await look(), await look('none'), await look('same-origin')]).toEqual([200, 200, 200]);
  expect([await look('same-site'), await look('cross-site')]).toEqual([401, 401]);
});

it('a cookie does not replace a wrong token', async () => {
  const { get } = await startServer();

  const response = await get('/api/me', { headers: { authorization: 'Bearer wrong', cookie: 'login=token-of-ann' } });

  expect(response.status).toBe(401);
});
