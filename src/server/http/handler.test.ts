import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Refusal } from '../../protocol/errors.ts';
import { MAX_BODY_BYTES } from './read-json.ts';
import { bearer, grantOf, startServer } from './testing/test-server.ts';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
  "font-src 'self'; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

it('[W48] every response carries the security headers and no CORS headers', async () => {
  const { get, port } = await startServer();
  const responses = [
    await get('/healthz'),
    await get('/nothing'),
    await get('/api/me'),
    await get('/api/login', { method: 'OPTIONS' }),
    await get('/healthz', { headers: { host: 'evil.example' } }),
    await get('/healthz', { headers: { origin: 'http://evil.example' } }),
    await get('/healthz', { headers: { origin: `http://127.0.0.1:${port}` } }),
  ];

  for (const { headers } of responses) {
    expect(headers).toMatchObject({
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
      'cache-control': 'no-store',
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});

it('[W48] errors are JSON with a text and a code', async () => {
  const { get } = await startServer();
  const cases = [
    ['/nothing', 'GET', 404, { error: 'There is nothing here', code: 'not_found' }],
    ['/api', 'GET', 404, { error: 'There is nothing here', code: 'not_found' }],
    ['/%', 'GET', 404, { error: 'There is nothing here', code: 'not_found' }],
    ['/__proto__', 'GET', 404, { error: 'There is nothing here', code: 'not_found' }],
    ['/healthz', 'POST', 405, { error: 'This takes GET, HEAD only', code: 'method_not_allowed' }],
    ['/api/login', 'GET', 405, { error: 'This takes POST only', code: 'method_not_allowed' }],
    ['/api/me', 'GET', 401, { error: 'This needs a token or a login', code: 'unauthorized' }],
  ] as const;

  for (const [path, method, status, body] of cases) {
    const response = await get(path, { method });
    expect({ ...response, body: JSON.parse(response.body) }).toMatchObject({ status, body });
    if (status === 405) expect(response.headers.allow).toBe(path === '/api/login' ? 'POST' : 'GET, HEAD');
  }
});

it('[W48] a HEAD gets the response of its GET without the body', async () => {
  const { get } = await startServer();

  const [whole, head] = [await get('/healthz'), await get('/healthz', { method: 'HEAD' })];

  expect(head).toMatchObject({ status: 200, body: '' });
  expect(head.headers['content-length']).toBe(whole.headers['content-length']);
});

it.each([
  ['not JSON', { 'content-type': 'text/plain' }, '{"code":"x"}', 415],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'code=x', 415],
  ['of no type', {}, '{"code":"x"}', 415],
  ['of a type like it', { 'content-type': 'application/jsonp' }, '{"code":"x"}', 415],
  ['no object', { 'content-type': 'application/json' }, '[1]', 400],
  ['malformed', { 'content-type': 'application/json; charset=utf-8' }, '{"code":', 400],
  ['without anything that is known', { 'content-type': 'application/json' }, '{"code":1}', 400],
  ['with too much of it', { 'content-type': 'application/json' }, '{"code":"x","token":"y"}', 400],
])('[W48] a body that is %s is refused', async (_what, headers, body, status) => {
  const { get } = await startServer();

  const response = await get('/api/login', { method: 'POST', headers, body });

  expect(response.status).toBe(status);
  expect(JSON.parse(response.body)).toEqual({ error: expect.any(String), code: expect.any(String) });
});

it('[W45] a body that is too large is refused', async () => {
  const { get } = await startServer();
  const post = (size: number) =>
    get('/api/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: 'x'.repeat(size) }),
    });
  const around = JSON.stringify({ code: '' }).length;

  const responses = [await post(MAX_BODY_BYTES - around), await post(MAX_BODY_BYTES - around + 1)];

  expect(responses.map(({ status }) => status)).toEqual([401, 413]);
  expect(responses[1]?.headers.connection).toBe('close');
});

it('[W41] the server is healthy while it runs, and ready unless it starts or drains', async () => {
  let state: 'starting' | 'ready' | 'draining' = 'starting';
  const { get } = await startServer({ services: { readiness: () => state } });
  const seen = [];

  for (state of ['starting', 'ready', 'draining'] as const) {
    seen.push([(await get('/healthz')).status, (await get('/readyz')).status]);
  }

  expect(seen).toEqual([
    [200, 503],
    [200, 200],
    [200, 503],
  ]);
  expect(JSON.parse((await get('/readyz')).body)).toEqual({ error: 'The server is draining', code: 'draining' });
});

it('[W42] metrics and sessions require a token with the scope view', async () => {
  const { get } = await startServer();

  for (const path of ['/metrics', '/api/sessions']) {
    const statuses = [await get(path), await get(path, bearer('bob')), await get(path, bearer('ann'))];
    expect(statuses.map(({ status }) => status)).toEqual([401, 403, 200]);
    expect(statuses[0]?.headers['www-authenticate']).toBe('Bearer');
  }
});

it('[W42] a token in the query opens nothing but a socket', async () => {
  const { get } = await startServer();

  expect((await get('/metrics?token=token-of-ann')).status).toBe(401);
});

it('[W42] metrics are in the Prometheus format, with requests by route and not by path', async () => {
  const { get } = await startServer();
  for (const path of ['/healthz', '/made-up', '/made-up-too']) await get(path);

  const { headers, body } = await get('/metrics', bearer('ann'));

  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(body).toBe(
    [
      '# HELP tau_http_requests_total Answers over HTTP.',
      '# TYPE tau_http_requests_total counter',
      'tau_http_requests_total{route="/healthz",status="200"} 1',
      'tau_http_requests_total{route="none",status="404"} 2',
      '',
    ].join('\n'),
  );
});

it('[W42] the query of /api/sessions is passed on with the grant', async () => {
  const { get } = await startServer();

  const all = await get('/api/sessions', bearer('ann'));
  const some = await get('/api/sessions?cwd=%2Fa%20b&cursor=c&limit=5&other=1', bearer('ann'));
  const wrong = await get('/api/sessions?limit=-1', bearer('ann'));

  expect(JSON.parse(all.body)).toEqual({ sessions: [], asked: { by: 'ann' } });
  expect(JSON.parse(some.body)).toEqual({ sessions: [], asked: { by: 'ann', cwd: '/a b', cursor: 'c', limit: 5 } });
  expect(wrong.status).toBe(400);
});

it('[W48] a refusal keeps its code, and an internal error reveals no details', async () => {
  const listSessions = (error: Error) => ({ services: { listSessions: () => Promise.reject(error) } });
  const refusing = await startServer(listSessions(new Refusal('permission_denied', 'Not that folder')));
  const faulty = await startServer(listSessions(new TypeError('secret')));

  const [refused, failed] = await Promise.all([refusing, faulty].map(({ get }) => get('/api/sessions', bearer('ann'))));

  expect(refused).toMatchObject({ status: 403, body: '{"error":"Not that folder","code":"permission_denied"}\n' });
  expect(failed).toMatchObject({
    status: 500,
    body: '{"error":"Something went wrong in the server","code":"internal"}\n',
  });
  const log = await faulty.logged(1);
  expect(log).toContain('error server failed error=TypeError');
  expect(log).not.toContain('secret');
});

it('[W49] every response is logged on one line without query and secrets', async () => {
  const { get, logged, exports } = await startServer();
  const code = exports.offer(join(import.meta.dirname, 'handler.ts'), grantOf('ann'));
  const secrets = ['token-of-ann', 'token-of-bob', 'token-of-carol', 'one-time-code', code, 'query-secret'];
  const post = (body: object) => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

  await get('/api/me?token=query-secret', bearer('ann'));
  await get('/api/me', { headers: { cookie: 'login=token-of-bob' } });
  await get('/api/me', bearer('carol'));
  await get('/api/login', post({ code: 'one-time-code' }));
  await get('/api/login', post({ token: 'token-of-carol' }));
  await get(`/api/exports/${code}`);
  await get(`/api/export/${code}`);
  await get('/token=query-secret');
  await get('/', { headers: { host: 'token=query-secret' } });
  await get('/', { headers: { origin: 'http://code=query-secret' } });
  await get('/', { headers: { origin: '\u{9b}31m' } });
  const log = await logged(11);

  for (const secret of secrets) expect(log).not.toContain(secret);
  expect(log).toMatch(
    / info {2}server answered method=GET status=200 ms=\d+ address=127\.0\.0\.1 grant=ann path=\/api\/me\n/,
  );
  expect(log).toMatch(/ method=GET status=200 .* path=\/api\/exports\/…\n/);
  expect(log).toContain(' refused origin origin=\\u{9b}31m ');
});

it('[W49] health probes are logged at debug only', async () => {
  const { get, logged } = await startServer();

  await get('/healthz');

  expect(await logged(1)).toMatch(/ debug server answered /);
});
