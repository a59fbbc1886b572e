import { existsSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openSocket, readToEnd, sendRequest } from '../testing/raw-clients.ts';
import { newFolder, startServer } from '../testing/test-server.ts';
import { httpLimits } from './limited-server.ts';
import { listenHttp } from './listen.ts';
import { readTlsFiles } from './tls-files.ts';

const fixtures = join(import.meta.dirname, '../../../../test/fixtures/tls');
const tlsFiles = { cert: join(fixtures, 'cert.pem'), key: join(fixtures, 'key.pem') };
const nothing = { handler: () => {}, onUpgrade: () => {} };
const HEAD = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n';

const limited = (limits: Partial<typeof httpLimits>) =>
  startServer({ listen: { limits: { ...httpLimits, ...limits } } });

const connections = (more: Partial<typeof httpLimits.connections>) => ({
  connections: { ...httpLimits.connections, ...more },
});

/** A connection that has received a response. */
async function connectAndRequest(port: number): Promise<Socket> {
  const socket = openSocket(port, `${HEAD}\r\n`);
  await new Promise((resolve) => socket.once('data', resolve));
  return socket;
}

it('[W36] without encryption the server listens on loopback only', async () => {
  const refusal = /^cannot listen on \S+: others could read along\. Give --tls-cert and --tls-key, or --behind-proxy/;

  for (const host of ['0.0.0.0', '::', '[::]', '192.0.2.1', '::ffff:192.0.2.1']) {
    await expect(listenHttp({ host, port: 0, ...nothing })).rejects.toThrow(refusal);
  }
});

it('[W36] with TLS or behind a proxy the server listens on any address', async () => {
  const tls = readTlsFiles(tlsFiles);

  const encrypted = await startServer({ listen: { host: '0.0.0.0', tls }, guard: { allowHosts: ['tau.test'] } });
  const proxied = await startServer({ listen: { host: '0.0.0.0', behindProxy: true } });

  const responses = [
    await encrypted.get('/healthz'),
    await encrypted.get('/healthz', { headers: { host: 'tau.test' } }),
    await proxied.get('/healthz'),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect([encrypted.address, proxied.address]).toEqual(['0.0.0.0', '0.0.0.0']);
});

it('[W48] HSTS is sent over TLS, except for localhost', async () => {
  const tls = readTlsFiles(tlsFiles);
  const { get, port } = await startServer({ listen: { tls }, guard: { allowHosts: ['tau.test'] } });
  const plain = await startServer();

  const remote = await get('/healthz', { headers: { host: 'tau.test' } });
  const local = await get('/healthz', { headers: { host: `localhost:${port}` } });

  expect(remote.headers['strict-transport-security']).toBe('max-age=31536000');
  expect(local.headers).not.toHaveProperty('strict-transport-security');
  expect((await plain.get('/healthz')).headers).not.toHaveProperty('strict-transport-security');
});

it('a client without TLS is rejected on a TLS port, and others are still served', async () => {
  const { get, port } = await startServer({ listen: { tls: readTlsFiles(tlsFiles) } });

  expect(await readToEnd(openSocket(port, `${HEAD}\r\n`))).not.toContain('HTTP/1.1 200');

  expect((await get('/healthz')).status).toBe(200);
});

it.each([
  ['a port in use', (taken: number) => ({ port: taken }), /^cannot listen on 127\.0\.0\.1:\d+: it is in use\. Choose/],
  ['no such port', () => ({ port: 70_000 }), /^cannot listen on port 70000: there is none$/],
  ['no such host', () => ({ host: 'x'.repeat(300) }), /^cannot listen on x+: there is no such host$/],
  [
    'an address of another machine',
    () => ({ host: '192.0.2.1', behindProxy: true }),
    /^cannot listen on 192\.0\.2\.1:0: this machine does not have that address$/,
  ],
  [
    'a socket file with a long path',
    () => ({ socketPath: `/${'x'.repeat(200)}` }),
    /^cannot listen on \S+: the path is longer than \d+ bytes$/,
  ],
])('%s is reported as a clear sentence', async (_what, options, sentence) => {
  const { port } = await startServer();

  await expect(listenHttp({ host: '127.0.0.1', port: 0, ...nothing, ...options(port) })).rejects.toThrow(sentence);
});

it('an invalid certificate is reported as a clear sentence', () => {
  const other = join(newFolder(), 'other.pem');
  writeFileSync(other, 'no key');

  expect(() => readTlsFiles({ ...tlsFiles, key: other })).toThrow(/are no certificate and its key: /);
  expect(() => readTlsFiles({ ...tlsFiles, key: `${other}x` })).toThrow(/^cannot read /);
});

it('[W39] only its owner can access the socket file, which is removed on close', async () => {
  const socketPath = join(newFolder(), 's');
  const before = process.umask(0);
  try {
    const { close } = await startServer({ listen: { socketPath } });

    expect(statSync(socketPath).mode & 0o777).toBe(0o600);
    expect(process.umask()).toBe(0);
    await close();
    expect(existsSync(socketPath)).toBe(false);
  } finally {
    process.umask(before);
  }
});

it('[W39] a socket file in use is kept, and the server does not start', async () => {
  const socketPath = join(newFolder(), 's');
  const other = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => other.listen(socketPath, resolve));
  const { port, close } = await startServer();
  await close();

  await expect(listenHttp({ host: '127.0.0.1', port, socketPath, ...nothing })).rejects.toThrow('it is in use');

  await expect(sendRequest({ port, path: '/' })).rejects.toThrow('ECONNREFUSED');
  expect(existsSync(socketPath)).toBe(true);
  other.close();
});

it('[W45] a head that arrives too slowly gets 408', async () => {
  const { port } = await limited({ headMs: 50, checkMs: 10 });

  const answer = await readToEnd(openSocket(port, HEAD));

  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(answer).toContain('"code":"too_slow"');
});

it('[W45] a body that arrives too slowly is cut off', async () => {
  const { port } = await limited({ headMs: 50, requestMs: 60, checkMs: 10 });
  const head = `POST /api/login HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n`;

  expect(await readToEnd(openSocket(port, `${head}{`))).not.toContain('HTTP/1.1 200');
});

it('[W45] a head with too many bytes or lines is refused', async () => {
  const { port } = await limited({ headBytes: 2000, headLines: 20 });
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1\r\n`).join('');

  const responses = await Promise.all([
    readToEnd(openSocket(port, `${HEAD}Cookie: ${'x'.repeat(4000)}\r\n\r\n`)),
    readToEnd(openSocket(port, `${HEAD}${lines(20)}Connection: close\r\n\r\n`)),
    readToEnd(openSocket(port, `${HEAD}${lines(20)}Connection: upgrade\r\nUpgrade: websocket\r\n\r\n`)),
  ]);

  for (const answer of responses) expect(answer).toMatch(/^HTTP\/1\.1 431 /);
});

it('[W45 W48] a malformed HTTP request gets 400 with the usual headers', async () => {
  const { port } = await startServer();

  const answer = await readToEnd(openSocket(port, 'EHLO evil.example\r\n\r\n'));

  expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Security-Policy: default-src 'none'/);
  expect(answer.endsWith('{"error":"This is no request","code":"bad_request"}\n')).toBe(true);
});

it('[W48] the Expect header of a request is ignored', async () => {
  const { get } = await startServer();

  const answer = await get('/healthz', { headers: { expect: 'nonsense' } });

  expect(answer).toMatchObject({ status: 200, headers: { 'x-content-type-options': 'nosniff' } });
});

it('[W45] the oldest silent connection is dropped for new ones', async () => {
  const { port, get } = await limited(connections({ withoutRequest: 2 }));
  const dropped: string[] = [];
  const openSilent = (name: string) => {
    const socket = openSocket(port);
    const end = readToEnd(socket).then(() => dropped.push(name));
    return { end, up: new Promise((resolve) => socket.once('connect', resolve)) };
  };

  const first = openSilent('first');
  await first.up;
  await openSilent('second').up;
  await openSilent('third').up;
  await first.end;

  expect((await get('/healthz')).status).toBe(200);
  expect(dropped[0]).toBe('first');
});

it('[W45] a connection that has sent a request is not dropped for silence', async () => {
  const { port, get } = await limited(connections({ withoutRequest: 1 }));
  const socket = await connectAndRequest(port);

  expect((await get('/healthz')).status).toBe(200);
  await readToEnd(openSocket(port, 'x\r\n\r\n'));

  expect(socket.destroyed).toBe(false);
});

it.each([
  ['in all', connections({ total: 2 })],
  ['of one address', connections({ perAddress: 2 })],
])('[W45] connections %s have a limit; a closed one frees its slot', async (_which, limits) => {
  const { port, get } = await limited(limits);
  const [first] = [await connectAndRequest(port), await connectAndRequest(port)];

  await expect(get('/healthz')).rejects.toThrow();
  first?.destroy();

  await expect.poll(() => get('/healthz').catch(() => undefined)).toMatchObject({ status: 200 });
});

it('[W45] behind a proxy the limit per address does not apply', async () => {
  const limits = { ...httpLimits, ...connections({ perAddress: 1 }) };
  const { port, get } = await startServer({ listen: { behindProxy: true, limits } });
  await connectAndRequest(port);

  expect((await get('/healthz')).status).toBe(200);
});

it('[W45] a reader that stalls during a response is cut off', async () => {
  const { port } = await startServer({
    listen: {
      limits: { ...httpLimits, stallMs: 50 },
      handler: (_request, response) => void response.write('Half'),
    },
  });

  expect(await readToEnd(openSocket(port, `${HEAD}\r\n`))).toContain('Half');
});

it('close ends running responses and upgraded sockets', async () => {
  const { port, close } = await startServer({
    listen: {
      limits: { ...httpLimits, closeMs: 20 },
      handler: (_request, response) => void response.write('Half'),
      onUpgrade: (_request, socket) => void socket.write('Upgraded'),
    },
  });
  const sockets = [
    openSocket(port, `${HEAD}\r\n`),
    openSocket(port, `${HEAD}Connection: upgrade\r\nUpgrade: x\r\n\r\n`),
  ];
  const ends = sockets.map(readToEnd);
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))));

  await close();

  expect(await Promise.all(ends)).toEqual([expect.stringContaining('Half'), 'Upgraded']);
});

it('a malformed request after a first one drops the connection and adds nothing to a response', async () => {
  const { port } = await startServer({
    listen: { handler: (_request, response) => void response.writeHead(200, { 'Content-Length': 10 }).write('Half') },
  });

  const answer = await readToEnd(openSocket(port, `${HEAD}\r\nnonsense\r\n\r\n`));

  expect(answer).not.toContain('400');
});
