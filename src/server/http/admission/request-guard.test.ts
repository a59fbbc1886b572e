import { expect, it } from 'vitest';
import { respondRaw } from '../responses.ts';
import { openSocket, readToEnd, sendRequest } from '../testing/raw-clients.ts';
import { newFolder, startServer } from '../testing/test-server.ts';

const statusOf = (response: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1]);

/** Sends exactly these lines and returns the status. */
const raw = async (port: number, ...lines: string[]) =>
  statusOf(await readToEnd(openSocket(port, `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`)));

it('[W37] a foreign host is refused on every path, and the log names the flag that allows it', async () => {
  const { get, port, logged } = await startServer();
  const host = `evil.example:${port}`;

  const responses = await Promise.all(
    ['/healthz', '/', '/app.js', '/nothing', '/api/login'].map((path) => get(path, { headers: { host } })),
  );

  expect(responses.map(({ status }) => status)).toEqual([421, 421, 421, 421, 421]);
  expect(JSON.parse(responses[0]?.body ?? '')).toEqual({ error: 'This server has another name', code: 'foreign_host' });
  expect(await logged(5)).toContain(
    `warn  server refused host host=${host} address=127.0.0.1 hint="--allow-host ${host}"`,
  );
});

it('[W37] own names are accepted on the own port only', async () => {
  const { get, port } = await startServer();
  const statuses = async (...hosts: string[]) =>
    Promise.all(hosts.map(async (host) => (await get('/healthz', { headers: { host } })).status));

  expect(await statuses(...['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'].map((name) => `${name}:${port}`))).toEqual([
    200, 200, 200, 200,
  ]);
  expect(
    await statuses(
      'localhost',
      '127.0.0.1:1',
      `127.0.0.2:${port}`,
      `localhost.evil.example:${port}`,
      `a@localhost:${port}`,
    ),
  ).toEqual([421, 421, 421, 421, 421]);
});

it('[W37] a request needs exactly one Host header and a path as its target', async () => {
  const { port } = await startServer();
  const host = `Host: localhost:${port}`;

  expect(await raw(port, 'GET /healthz HTTP/1.1', host)).toBe(200);
  expect(await raw(port, 'GET /healthz HTTP/1.0')).toBe(421);
  expect(await raw(port, 'GET /healthz HTTP/1.1', host, 'Host: evil.example')).toBe(421);
  expect(await raw(port, 'GET http://evil.example/healthz HTTP/1.1', host)).toBe(400);
  expect(await raw(port, 'OPTIONS * HTTP/1.1', host)).toBe(400);
});

it('[W37] allowed hosts are accepted on any port, or on the named one', async () => {
  const { get } = await startServer({ guard: { allowHosts: ['tau.example', 'other.example:8080', '[fd00::1]'] } });
  const hosts = [
    'tau.example',
    'TAU.example:99',
    'other.example:8080',
    '[fd00::1]:4',
    'other.example',
    'a.tau.example',
  ];

  const responses = await Promise.all(hosts.map((host) => get('/healthz', { headers: { host } })));

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 421, 421]);
});

it('[W37] on a wildcard address the server accepts the address that was connected to', async () => {
  const { get, port } = await startServer({
    listen: { host: '0.0.0.0', behindProxy: true },
    guard: { host: '0.0.0.0' },
  });

  const response = await get('/healthz', { host: '127.0.0.3', headers: { host: `127.0.0.3:${port}` } });
  const other = await get('/healthz', { host: '127.0.0.3', headers: { host: `127.0.0.4:${port}` } });

  expect([response.status, other.status]).toEqual([200, 421]);
});

it('[W37] a foreign origin is refused, also null and one with another port or scheme', async () => {
  const { get, port, logged } = await startServer();
  const own = `http://127.0.0.1:${port}`;
  const others = [
    'null',
    '',
    'http://127.0.0.1',
    `https://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `${own}/`,
    `${own}.evil.example`,
  ];
  const statuses = async (origins: string[]) =>
    Promise.all(origins.map(async (origin) => (await get('/healthz', { headers: { origin } })).status));

  expect(await statuses([own, own.toUpperCase()])).toEqual([200, 200]);
  expect(await statuses(others)).toEqual(others.map(() => 403));
  const log = await logged(2 + others.length);
  expect(log).toContain(
    `refused origin origin=http://localhost:${port} address=127.0.0.1 hint="--allow-origin http://localhost:${port}"`,
  );
  expect(log).toMatch(/refused origin origin=null address=127.0.0.1\n/);
});

it('[W37] an allowed origin may omit its default port; other schemes are compared literally', async () => {
  const allowOrigins = ['https://Tau.Example:443', 'http://dev.example:5173', 'capacitor://localhost'];
  const { get } = await startServer({ guard: { allowOrigins } });
  const origins = ['https://tau.example', 'http://dev.example:5173', 'capacitor://localhost', 'http://tau.example:443'];

  const responses = await Promise.all(origins.map((origin) => get('/healthz', { headers: { origin } })));

  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 403]);
  expect(responses.every(({ headers }) => Object.keys(headers).every((name) => !name.includes('access-control')))).toBe(
    true,
  );
});

it.each([
  ['a host with a scheme', { allowHosts: ['https://tau.example'] }, '--allow-host takes a name like'],
  ['every host', { allowHosts: ['*'] }, '--allow-host takes a name like'],
  ['every origin', { allowOrigins: ['*'] }, '--allow-origin takes one like'],
  ['the origin null', { allowOrigins: ['null'] }, '--allow-origin takes one like'],
  ['an origin with a path', { allowOrigins: ['https://tau.example/'] }, '--allow-origin takes one like'],
])('%s cannot be allowed', async (_what, guard, sentence) => {
  await expect(startServer({ guard })).rejects.toThrow(sentence);
});

it('only behind a proxy its last forwarded address and protocol count', async () => {
  const headers = { host: 'tau.example', 'x-forwarded-for': '6.6.6.6, 9.9.9.9', 'x-forwarded-proto': 'https' };
  const origin = 'https://tau.example';
  const allowHosts = ['tau.example'];
  const behind = await startServer({ listen: { behindProxy: true }, guard: { allowHosts } });
  const alone = await startServer({ guard: { allowHosts } });

  const [there, here] = await Promise.all(
    [behind, alone].map(({ get }) => get('/healthz', { headers: { ...headers, origin } })),
  );

  expect([there?.status, here?.status]).toEqual([200, 403]);
  expect(await behind.logged(1)).toContain('address=9.9.9.9');
  expect(await alone.logged(1)).toContain('address=127.0.0.1');
});

it('without a forwarded address the address of the proxy is used', async () => {
  const { get, logged } = await startServer({ listen: { behindProxy: true } });

  await get('/healthz', { headers: { 'x-forwarded-for': 'unknown' } });

  expect(await logged(1)).toContain('address=127.0.0.1');
});

it('[W40] all routes are below the base path', async () => {
  const { get } = await startServer({ guard: { basePath: '/tau' } });

  const responses = await Promise.all(
    ['/tau/healthz', '/tau', '/healthz', '/', '/tauhealthz'].map((path) => get(path)),
  );

  expect(responses.map(({ status }) => status)).toEqual([200, 308, 404, 404, 404]);
  expect(responses[1]?.headers.location).toBe('/tau/');
});

it('[W39] over the socket file the owner needs neither token nor host name', async () => {
  const socketPath = `${newFolder()}/s`;
  await startServer({ listen: { socketPath } });

  const response = await sendRequest({
    socketPath,
    path: '/api/me',
    headers: { host: 'evil.example', origin: 'null' },
  });

  expect(response.status).toBe(200);
  expect(JSON.parse(response.body)).toEqual({ name: 'owner', scopes: ['view', 'prompt', 'bash', 'admin'] });
});

it('[W37] an upgrade passes the same checks, and only an upgrade may carry its token in the query', async () => {
  const server = await startServer();
  const admitted: unknown[] = [];
  const { port } = await startServer({
    listen: {
      onUpgrade: (request, socket) => {
        const response = server.guard.admit(request, 'upgrade');
        admitted.push('status' in response ? response.status : (response.grant?.id ?? 'nobody'));
        respondRaw(
          socket,
          'status' in response ? response : { status: 404, code: 'not_found', error: 'There is nothing here' },
        );
      },
    },
  });
  const upgrade = (target: string, ...lines: string[]) =>
    raw(port, `GET ${target} HTTP/1.1`, ...lines, 'Upgrade: websocket', 'Connection: Upgrade');
  const host = `Host: localhost:${port}`;
  const own = `Origin: http://localhost:${port}`;

  await upgrade('/session?token=token-of-ann', host);
  await upgrade('/session?token=wrong', host);
  await upgrade('/session', host, 'Authorization: Bearer token-of-bob');
  await upgrade('/session', host, own, 'Cookie: login=token-of-ann');
  await upgrade('/session', host, 'Cookie: login=token-of-ann');
  await upgrade('/session?token=token-of-ann', 'Host: evil.example');
  expect(await upgrade('/session?token=token-of-ann', host, 'Origin: http://evil.example')).toBe(403);

  expect(admitted).toEqual(['ann', 'nobody', 'bob', 'ann', 403, 421, 403]);
});
