import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { rejectedUpgrade, startTarget, TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';

const originOf = ({ port }: Target) => `http://127.0.0.1:${port}`;

/** Redeems the code of the login link and returns the Set-Cookie header. */
async function logIn(target: Target, code = target.code): Promise<string> {
  const { status, headers } = await target.post('/api/login', { code }, { origin: originOf(target) });
  expect(status).toBe(200);
  return String(headers['set-cookie']?.[0]);
}

const pairOf = (setCookie: string) => setCookie.split(';')[0] ?? '';

it('[A15 W44] a login code works once, even when redeemed concurrently', async () => {
  const target = await startTarget();

  const responses = await Promise.all(
    Array.from({ length: 8 }, () => target.post('/api/login', { code: target.code }, { origin: originOf(target) })),
  );

  expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
  expect(responses.filter(({ headers }) => headers['set-cookie'])).toHaveLength(1);
});

it('[W44 A15] a login code is not a token, and a token is not a login code', async () => {
  const target = await startTarget();

  const client = await target.connect({ token: target.code });
  const asCode = await target.post('/api/login', { code: TARGET_TOKEN });
  const both = await target.post('/api/login', { code: target.code, token: TARGET_TOKEN });

  expect(await client.ended).toMatchObject({ code: 1008 });
  expect([asCode.status, both.status]).toEqual([401, 400]);
  await logIn(target);
});

it('[W44 W46] a login by form, with a foreign origin or in the query is rejected', async () => {
  const target = await startTarget();
  const { code } = target;

  const form = await target.post('/api/login', `code=${code}`, { 'content-type': 'application/x-www-form-urlencoded' });
  const plain = await target.post('/api/login', { code }, { 'content-type': 'text/plain' });
  const foreign = await target.post('/api/login', { code }, { origin: 'http://evil.example' });
  const large = await target.post('/api/login', { code, more: 'x'.repeat(20_000) });
  const inQuery = await target.get(`/api/login?code=${code}`);

  expect([form, plain, foreign, large, inQuery].map(({ status }) => status)).toEqual([415, 415, 403, 413, 405]);
  await logIn(target);
});

it('[A14 W46] the cookie is named after the port, hashed on disk and valid only with the own origin', async () => {
  const target = await startTarget();
  const setCookie = await logIn(target);
  const cookie = pairOf(setCookie);
  const [name, value = ''] = cookie.split('=');
  const origin = originOf(target);

  expect(name).toBe(`tau_${target.port}`);
  expect(setCookie).toMatch(/; HttpOnly; SameSite=Strict$/);
  const stored = join(target.home.agentDir, 'server', 'logins.json');
  expect(readFileSync(stored, 'utf8')).not.toContain(value);
  expect(statSync(stored).mode & 0o777).toBe(0o600);

  await (await target.connect({ token: null }, { headers: { cookie, origin } })).location();
  expect((await rejectedUpgrade(target.connect({ token: null }, { headers: { cookie } }))).status).toBe(403);
  expect((await rejectedUpgrade(target.connect({ token: null }, { headers: { cookie, origin: 'null' } }))).status).toBe(
    403,
  );
  for (const headers of [
    { cookie: `tau_1=${value}`, origin },
    { cookie: `TAU_${target.port}=${value}`, origin },
  ]) {
    expect(await (await target.connect({ token: null }, { headers })).ended).toMatchObject({ code: 1008 });
  }
  const crossSite = await target.get('/api/me', { headers: { cookie, 'sec-fetch-site': 'cross-site' } });
  const own = await target.get('/api/me', { headers: { cookie } });
  expect([crossSite.status, own.status]).toEqual([401, 200]);
});

it('[A4] a valid cookie does not make up for a wrong token', async () => {
  const target = await startTarget();
  const cookie = pairOf(await logIn(target));

  const client = await target.connect({ token: 'wrong' }, { headers: { cookie, origin: originOf(target) } });

  expect(await client.ended).toMatchObject({ code: 1008 });
});

it('[A14] a login survives a restart of the server on its port, a login code does not', async () => {
  const home = newHome();
  const first = await startTarget({ home });
  const cookie = pairOf(await logIn(first));
  await first.stop();
  const second = await startTarget({ home, port: first.port });

  await (await second.connect({ token: null }, { headers: { cookie, origin: originOf(second) } })).location();
  expect((await second.post('/api/login', { code: first.code })).status).toBe(401);
});

it('[W44 W46 A11] a logout closes the sockets of its login, and a foreign page cannot log a user out', async () => {
  const target = await startTarget();
  const cookie = pairOf(await logIn(target));
  const origin = originOf(target);
  const other = await target.post('/api/login', { token: TARGET_TOKEN });
  const keptCookie = pairOf(String(other.headers['set-cookie']?.[0]));
  const page = await target.connect({ token: null }, { headers: { cookie, origin } });
  const otherPage = await target.connect({ token: null }, { headers: { cookie: keptCookie, origin } });
  await Promise.all([page.location(), otherPage.location()]);

  const forged = await target.post('/api/logout', '', { cookie });
  const foreign = await target.post('/api/logout', '', { cookie, origin: 'http://evil.example' });
  const own = await target.post('/api/logout', '', { cookie, origin });

  expect([forged.status, foreign.status, own.status]).toEqual([403, 403, 200]);
  expect(String(own.headers['set-cookie'])).toContain('Max-Age=0');
  expect(await page.ended).toEqual({ code: 1008, reason: 'Invalid authentication token' });
  await otherPage.ok({ type: 'get_state' });
  expect((await target.get('/api/me', { headers: { cookie } })).status).toBe(401);
});
