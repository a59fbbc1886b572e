import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readAll } from '../../testing/script.ts';
import { isPrivateAddress } from './addresses.ts';
import { type ProxyOptions, serveProxy } from './proxy.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function startProxy(options: Partial<ProxyOptions> = {}) {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const proxy = serveProxy(listener, { mayConnect: async () => true, ...options });
  closing.push(() => proxy.close());
  /** Sends bytes and returns everything until the end. */
  const exchange = (request: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(request);
    return readAll(socket).catch((error: Error) => error.message);
  };
  return { exchange, port, proxy };
}

async function startWeb() {
  const seen: string[] = [];
  const web = createHttpServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    request.on('data', (data) => seen.push(String(data)));
    request.on('end', () => response.writeHead(201, { 'x-kept': 'yes' }).end('body'));
  }).listen(0, '127.0.0.1');
  await once(web, 'listening');
  closing.push(() => web.close());
  return { seen, port: (web.address() as AddressInfo).port };
}

const get = (url: string, headers = '') =>
  `GET ${url} HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n${headers}\r\n`;

describe('the proxy', () => {
  it('forwards a request, with the host of its URL and without headers of the connection', async () => {
    const { exchange } = await startProxy();
    const { port, seen } = await startWeb();
    const body = 'content-length: 4\r\nproxy-authorization: secret\r\nx-mine: 1\r\n';

    const response = await exchange(`${get(`http://127.0.0.1:${port}/a?b=c`, body).replace('GET', 'POST')}data`);

    expect(response).toMatch(/^HTTP\/1.1 201 Created\r\n[\s\S]*x-kept: yes[\s\S]*body/);
    expect(seen[0]).toMatch(/^POST \/a\?b=c /);
    expect(seen[0]).toContain(`"host":"127.0.0.1:${port}"`);
    expect(seen[0]).toContain('"x-mine":"1"');
    expect(seen[0]).not.toContain('secret');
    expect(seen[1]).toBe('data');
  });

  it.each(['GET', 'DELETE', 'POST'])('forwards no second request in the body of a chunked %s', async (method) => {
    const { exchange } = await startProxy();
    const { port, seen } = await startWeb();
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: other.test\r\n\r\n';
    const body = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;

    const request = get(`http://127.0.0.1:${port}/`, 'transfer-encoding: chunked\r\n').replace('GET', method);
    await exchange(request + body);

    expect(seen).toEqual([expect.stringContaining(`${method} / `), hidden]);
  });

  it.each([
    ['a name that resolves to the loopback', ['127.0.0.1']],
    ['a name that resolves to a private network', ['10.1.2.3', '192.168.0.1', '172.20.0.1']],
    ['a name that resolves to the metadata of a cloud', ['169.254.169.254']],
    ['a name that resolves to a mapped address', ['::ffff:127.0.0.1', '::ffff:a9fe:a9fe', '64:ff9b::7f00:1']],
    ['a name without an address', []],
  ])('refuses %s, although the name is allowed', async (_what, addresses) => {
    const { exchange } = await startProxy({ lookup: async () => addresses });
    const { port, seen } = await startWeb();

    const forwarded = await exchange(get(`http://rebinding.test:${port}/`));
    const tunnelled = await exchange(`CONNECT rebinding.test:${port} HTTP/1.1\r\n\r\n`);

    for (const response of [forwarded, tunnelled]) {
      expect(response).toMatch(
        /^HTTP\/1.1 403 Forbidden\r\n[\s\S]*x-proxy-error: private-address[\s\S]*rebinding.test/,
      );
    }
    expect(seen).toEqual([]);
  });

  it('resolves a name once, and only after it was allowed', async () => {
    const resolved: string[] = [];
    const lookup = async (host: string) => {
      resolved.push(host);
      return ['127.0.0.1'];
    };
    const { exchange } = await startProxy({ lookup, mayConnect: async (host) => host === 'yes.test' });

    await exchange('CONNECT secret-in-a-name.test:443 HTTP/1.1\r\n\r\n');
    await exchange('CONNECT yes.test:443 HTTP/1.1\r\n\r\n');

    expect(resolved).toEqual(['yes.test']);
  });

  it.each([
    ['127.1:80', '127.0.0.1'],
    ['0x7f.0.0.1:80', '127.0.0.1'],
    ['2130706433:80', '127.0.0.1'],
    ['[::1]:80', '::1'],
    ['Example.TEST.:80', 'example.test'],
    ['EXAMPLE.test:80', 'example.test'],
  ])('decides about the only spelling of %s', async (target, host) => {
    const asked: string[] = [];
    const mayConnect = async (name: string) => {
      asked.push(name);
      return false;
    };
    const { exchange } = await startProxy({ mayConnect });

    await exchange(`CONNECT ${target} HTTP/1.1\r\n\r\n`);

    expect(asked).toEqual([host]);
  });

  it('awaits one decision for concurrent connections to one host', async () => {
    const decisions: ((allowed: boolean) => void)[] = [];
    const { exchange } = await startProxy({ mayConnect: () => new Promise((decide) => decisions.push(decide)) });
    const responses = ['a.test:443', 'a.test:443', 'b.test:443'].map((target) =>
      exchange(`CONNECT ${target} HTTP/1.1\r\n\r\n`),
    );
    while (decisions.length < 2) await new Promise((settle) => setImmediate(settle));

    for (const decide of decisions) decide(false);

    expect((await Promise.all(responses)).every((response) => response.includes('403'))).toBe(true);
    expect(decisions).toHaveLength(2);
  });

  it('refuses when a decision fails', async () => {
    const { exchange } = await startProxy({ mayConnect: () => Promise.reject(new Error('gone')) });

    expect(await exchange('CONNECT a.test:443 HTTP/1.1\r\n\r\n')).toContain('403');
  });

  it.each([
    ['a request that is not for a proxy', get('/')],
    ['another scheme', get('ftp://a.test/')],
    ['credentials in the host', get('http://user:pass@a.test/')],
    ['credentials in a tunnel', 'CONNECT user@a.test:443 HTTP/1.1\r\n\r\n'],
    ['an empty host', 'CONNECT :443 HTTP/1.1\r\n\r\n'],
    ['a name with other signs', 'CONNECT a%00b.test:443 HTTP/1.1\r\n\r\n'],
  ])('answers %s with 400 and decides nothing', async (_what, request) => {
    const asked: string[] = [];
    const mayConnect = async (host: string) => asked.push(host) > 0;
    const { exchange } = await startProxy({ mayConnect });

    expect(await exchange(request)).toMatch(/^HTTP\/1.1 400 |^$/);
    expect(asked).toEqual([]);
  });

  it('ends a connection whose headers are too long', async () => {
    const { exchange } = await startProxy();

    expect(await exchange(get('http://a.test/', `x: ${'a'.repeat(20_000)}\r\n`))).not.toContain('200');
  });

  it('ends every tunnel when it closes', async () => {
    const { port, proxy } = await startProxy();
    const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    closing.push(() => silent.close());
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    client.write(`CONNECT 127.0.0.1:${(silent.address() as AddressInfo).port} HTTP/1.1\r\n\r\n`);
    expect(String((await once(client, 'data'))[0])).toContain('200 Connection established');

    await proxy.close();

    await once(client, 'close');
  });
});

describe('isPrivateAddress', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    'not an address',
    '',
  ])('is true for %s', (address) => expect(isPrivateAddress(address)).toBe(true));

  it.each(['1.1.1.1', '172.32.0.1', '8.8.8.8', '2606:4700:4700::1111', '2a00:1450::1', '100.128.0.1'])(
    'is false for %s',
    (address) => expect(isPrivateAddress(address)).toBe(false),
  );
});
