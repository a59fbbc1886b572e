import { expect, it } from 'vitest';
import { readToEnd } from '../../../src/server/http/testing/raw-clients.ts';
import { rejectedUpgrade, startTarget, TARGET_TOKEN, type Target } from '../../support/server/attack-target.ts';

const paths = ['/', '/healthz', '/metrics', '/schema.json', '/api/sessions', '/nothing/../here'];

/** Returns the status line of the response to these lines. */
async function statusLine(target: Target, lines: readonly string[]): Promise<string> {
  const received = await readToEnd(target.openSocket(`${lines.join('\r\n')}\r\n\r\n`));
  return received.slice(0, received.indexOf('\r\n'));
}

const upgradeLines = (target: Target, ...lines: string[]) => [
  `GET /session?token=${TARGET_TOKEN} HTTP/1.1`,
  ...lines,
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${Buffer.from(String(target.port).padEnd(16)).toString('base64')}`,
];

it('[W37] a foreign origin gets no WebSocket, even with a valid token', async () => {
  const target = await startTarget();
  const own = `http://127.0.0.1:${target.port}`;
  const foreign = [
    'http://evil.example',
    'null',
    '',
    'file://',
    'http://127.0.0.1',
    `https://127.0.0.1:${target.port}`,
    `http://localhost:${target.port}`,
    `${own}.evil.example`,
    `${own}@evil.example`,
    `${own}/`,
    `http://127.0.0.1:${target.port}0`,
    `http://xn--127.0.0.1:${target.port}`,
  ];

  for (const origin of foreign) {
    const response = await rejectedUpgrade(target.connect({}, { headers: { origin } }));

    expect([origin, response.status], response.body).toEqual([origin, 403]);
  }
  const client = await target.connect({}, { headers: { origin: own } });
  await client.location();
});

it('[W37] an allowed origin gets a WebSocket, similar origins do not, and no response has CORS headers', async () => {
  const target = await startTarget({ args: ['--allow-origin', 'https://page.example'] });
  const headers = (origin: string) => ({ headers: { origin } });

  await (await target.connect({}, headers('https://page.example'))).location();
  for (const origin of ['http://page.example', 'https://page.example:8443', 'https://page.example.evil.example']) {
    expect((await rejectedUpgrade(target.connect({}, headers(origin)))).status).toBe(403);
  }
  const preflight = await target.get('/api/login', {
    method: 'OPTIONS',
    headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
  });
  const responses = [preflight, await target.get('/healthz', headers('https://page.example'))];
  expect(responses.map(({ status }) => status)).toEqual([405, 200]);
  for (const { headers: responseHeaders } of responses) {
    expect(Object.keys(responseHeaders).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});

it('[W37] a request with a foreign Host gets 421: no file, no health check, no WebSocket', async () => {
  const target = await startTarget();
  const host = `evil.example:${target.port}`;

  const responses = await Promise.all(paths.map((path) => target.get(path, { headers: { host } })));
  const upgrade = await statusLine(target, upgradeLines(target, `Host: ${host}`));
  const twoHosts = await statusLine(target, upgradeLines(target, `Host: 127.0.0.1:${target.port}`, `Host: ${host}`));
  const own = await statusLine(target, upgradeLines(target, `Host: ${host}`, `Origin: http://${host}`));

  expect(responses.map(({ status }) => status)).toEqual(paths.map(() => 421));
  for (const line of [upgrade, own]) expect(line).toBe('HTTP/1.1 421 Misdirected Request');
  expect(twoHosts).toMatch(/^HTTP\/1\.1 4(00|21) /);
});

it('[W37 W48] malformed requests are rejected with the security headers', async () => {
  const target = await startTarget();
  const host = `Host: 127.0.0.1:${target.port}`;
  const attempts: readonly (readonly [string, readonly string[]])[] = [
    ['400', ['POST /api/login HTTP/1.1', host, 'Content-Length: 2', 'Transfer-Encoding: chunked', '', '0', '', 'GE']],
    ['400', ['POST /api/login HTTP/1.1', host, 'Content-Length: 2', 'Content-Length: 3', '', '{}']],
    ['400', ['POST /api/login HTTP/1.1', host, 'Transfer-Encoding: chunked, identity', '', '0']],
    ['400', ['GET /healthz HTTP/1.1', host, 'X: a\nTransfer-Encoding: chunked']],
    ['400', ['GET http://evil.example/healthz HTTP/1.1', host, 'Connection: close']],
    ['400', ['GET /healthz HTTP/9.9', host]],
    ['421', ['GET /healthz HTTP/1.0']],
    ['431', ['GET /healthz HTTP/1.1', host, `X: ${'x'.repeat(17_000)}`]],
    [
      '431',
      [
        'GET /healthz HTTP/1.1',
        host,
        ...Array.from({ length: 110 }, (_, index) => `X-${index}: 1`),
        'Connection: close',
      ],
    ],
    ['404', ['GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1', host, 'Connection: close']],
    ['404', ['GET /..%00 HTTP/1.1', host, 'Connection: close']],
    ['404', ['GET //evil.example/ HTTP/1.1', host, 'Connection: close']],
    ['400', ['GET /session HTTP/1.1', host, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']],
    ['400', [...upgradeLines(target, host).slice(0, -1), 'Sec-WebSocket-Key: short']],
    ['400', upgradeLines(target, host).map((line) => line.replace('Version: 13', 'Version: 7'))],
    ['400', upgradeLines(target, host).map((line) => line.replace('GET', 'PUT'))],
    ['400', upgradeLines(target, host).map((line) => line.replace('Upgrade: websocket', 'Upgrade: h2c'))],
    ['404', upgradeLines(target, host).map((line) => line.replace('/session', '/elsewhere'))],
  ];

  for (const [status, lines] of attempts) {
    const received = await readToEnd(target.openSocket(`${lines.join('\r\n')}\r\n\r\n`));

    expect(received.slice(0, 12), lines.join('\n').slice(0, 200)).toBe(`HTTP/1.1 ${status}`);
    expect(received.match(/HTTP\/1\.1 \d+/g), lines[0]).toHaveLength(1);
    expect(received).toMatch(/\r\nX-Content-Type-Options: nosniff\r\n/i);
    expect(received).toMatch(/\r\nContent-Security-Policy: default-src 'none'/i);
    expect(received).not.toMatch(/access-control/i);
  }
  expect((await target.get('/healthz')).status).toBe(200);
});

it('[W40] all routes are below the base path and none outside', async () => {
  const target = await startTarget({ args: ['--base-path', '/tau'] });

  await (await target.connect()).location();
  const outside = await rejectedUpgrade(target.connect({}, { url: `ws://127.0.0.1:${target.port}/session` }));
  const statuses = await Promise.all(['/tau/healthz', '/healthz', '/tau/../healthz'].map((path) => target.get(path)));

  expect(outside.status).toBe(404);
  expect(statuses.map(({ status }) => status)).toEqual([200, 404, 404]);
});
