import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeConfined } from '../../../../test/support/sandbox/working-sandbox.ts';
import { confinedSessions, scratchFolder } from '../../testing/confined.ts';

const base = scratchFolder();
const open = confinedSessions(base);
const web = createHttpServer((request, response) =>
  response.end(`web ${request.method} ${request.url} ${request.headers.host}`),
);
const echo: Server = createServer((socket) => socket.end('echo'));
// Not in NO_PROXY, yet on the loopback of the host.
const HOST = '127.0.0.2';

const listen = (server: Server) => new Promise<void>((listening) => void server.listen(0, HOST, listening));
const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeAll(() => Promise.all([listen(web), listen(echo)]));
afterAll(() => {
  web.close();
  echo.close();
});

function asking(allowed: (host: string, port: number) => boolean) {
  const asked: string[] = [];
  const mayConnect = async (host: string, port: number) => {
    asked.push(`${host}:${port}`);
    return allowed(host, port);
  };
  return { asked, setup: { options: { network: 'ask', mayConnect } as const } };
}

describeConfined('the network of a confined command', () => {
  it('reaches an allowed host through the proxy, and no other', async () => {
    const { asked, setup } = asking((host) => host === HOST);
    const { run } = await open(setup);
    const url = `http://${HOST}:${portOf(web)}/a?b`;

    expect((await run(`curl -s ${url}`)).output).toBe(`web GET /a?b ${HOST}:${portOf(web)}`);
    expect((await run('curl -si http://denied.test/x')).output).toMatch(
      /403 Forbidden[\s\S]*x-proxy-error: blocked-by-sandbox[\s\S]*denied\.test:80/i,
    );
    expect((await run('curl -sv https://denied.test/x')).output).toMatch(/403 Forbidden[\s\S]*x-proxy-error/i);
    expect((await run(`curl -s --noproxy '*' --max-time 5 ${url}; echo $?`)).output).toBe('7');
    expect(asked).toEqual([`${HOST}:${portOf(web)}`, 'denied.test:80', 'denied.test:443']);
  });

  it('tunnels to an allowed host', async () => {
    const { setup } = asking(() => true);
    const { run } = await open(setup);

    expect((await run(`curl -sp http://${HOST}:${portOf(web)}/t`)).output).toBe(`web GET /t ${HOST}:${portOf(web)}`);
  });

  it('carries git and npm', async () => {
    const { asked, setup } = asking(() => false);
    const { run } = await open(setup);

    const { output } = await run(
      'git ls-remote https://git.test/a.git 2>&1; npm view --fetch-retries=0 --registry=https://npm.test x 2>&1 | tail -5',
    );

    expect(output).toContain('403');
    expect([...new Set(asked)]).toEqual(['git.test:443', 'npm.test:443']);
  });

  it('is none with network none, whatever proxy the user has', async () => {
    const { run } = await open();
    const url = `http://${HOST}:${portOf(web)}/`;

    const { output } = await run(`curl -s --max-time 5 ${url}; echo $?; env | grep -ci proxy`, {
      HTTP_PROXY: url,
      https_proxy: url,
    });

    expect(output).toBe('7\n0');
  });

  it('is that of the host with network open, but for abstract sockets', async () => {
    const { run } = await open({ options: { network: 'open' } });

    expect((await run(`curl -s http://${HOST}:${portOf(web)}/`)).output).toContain('web GET');
  });

  it('has its proxy again in a new cell', async () => {
    const { setup } = asking(() => true);
    const { run } = await open(setup);
    await run('kill -9 -1');

    expect((await run(`curl -s http://${HOST}:${portOf(web)}/`)).output).toContain('web GET');
  });
});
