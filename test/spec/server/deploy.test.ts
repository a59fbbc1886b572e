import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Flag, flags } from '../../../src/cli/flags/flags.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { OWNER_TOKEN, startServer } from '../../support/server/test-server.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, 'deploy', path), 'utf8');

// Time that a server needs to stop, beside the runs that it drains.
const STOP_SECONDS = 10;

/** The values of a unit file, by section and key; a key may repeat. */
function readUnit(path: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  let section = '';
  for (const line of read(path).split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const heading = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, name, value = ''] = /^([A-Z]\w+)=(.*)$/.exec(line) ?? [];
    if (heading) section = heading;
    else if (name) values.set(`${section} ${name}`, [...(values.get(`${section} ${name}`) ?? []), value]);
    else throw new Error(`${path}: ${line}`);
  }
  return values;
}

const units = ['systemd/tau.service', 'systemd/user/tau.service'];

it.each(units)('%s gives a server enough time to drain', (path) => {
  const values = readUnit(path);
  const service = (name: string) => values.get(`Service ${name}`)?.[0];

  expect([...values.keys()]).toEqual(
    expect.arrayContaining(['Unit Description', 'Service ExecStart', 'Install WantedBy']),
  );
  expect(service('KillMode')).toBe('mixed');
  expect(service('NoNewPrivileges')).toBe('yes');
  expect(service('Restart')).toBe('on-failure');
  expect(service('SuccessExitStatus')).toBe('143');
  expect(Number(service('TimeoutStopSec'))).toBeGreaterThan(Number(flags['drain-seconds'].default) + STOP_SECONDS);
  expect(service('ExecStart')).toMatch(/\btau serve /);
});

it('every flag used in deploy/ is a server or rpc flag', () => {
  const files = readdirSync(join(root, 'deploy'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\w\.\w|file$/.test(name),
  );
  const used = files.flatMap((name) =>
    read(name)
      .split('\n')
      .filter((line) => /\btau\b.*\b(?:serve|attach)\b/.test(line))
      .flatMap((line) => [...line.matchAll(/(?<=[\s"])--([a-z-]+)/g)].map(([, flag]) => String(flag))),
  );

  expect(used.length).toBeGreaterThan(8);
  for (const name of used) expect((flags as Record<string, Flag>)[name]?.topic, name).toMatch(/server|rpc/);
});

it('the image copies existing paths, runs as an unprivileged user and checks the health endpoint', async () => {
  const dockerfile = read('Dockerfile').replaceAll(/\\\n\s*/g, '');
  const ignored = read('Dockerfile.dockerignore').split('\n');
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, paths]) => paths?.split(' ') ?? [],
  );

  expect(copied).not.toEqual([]);
  for (const path of copied) {
    expect(existsSync(join(root, path)), path).toBe(true);
    expect(ignored).toContain(`!${path}`);
  }
  expect(dockerfile).toMatch(/^FROM node:26-slim$/m);
  expect(dockerfile).toMatch(/^USER node$/m);
  expect(dockerfile).toMatch(/^VOLUME \/agent$/m);
  const [, url = ''] = /fetch\('(.+?)'\)/.exec(dockerfile) ?? [];
  expect(new URL(url).port).toBe(flags.port.default);
  expect(dockerfile).toContain(`EXPOSE ${flags.port.default}\n`);
  const server = await startServer({ args: ['--host', '0.0.0.0', '--behind-proxy'] });
  const { port } = new URL(server.url);
  expect((await fetch(`http://127.0.0.1:${port}${new URL(url).pathname}`)).status).toBe(200);
});

it.each(['Caddyfile', 'nginx.conf'])('%s proxies to the default port of tau serve', (path) => {
  expect(read(path)).toMatch(
    new RegExp(`(?:reverse_proxy|proxy_pass) (?:http://)?127\\.0\\.0\\.1:${flags.port.default}`),
  );
  expect(read(path)).toContain('--behind-proxy --allow-host tau.example.org');
  expect(read(path)).toContain('--base-path /tau');
});

it.each(['/', '/tau'])('the server accepts requests with the headers of nginx, below %s', async (basePath) => {
  const passed = Object.fromEntries(
    [...read('nginx.conf').matchAll(/proxy_set_header (\S+) (\S+);/g)].map(([, name, value]) => [
      name,
      { $host: 'tau.example.org', $remote_addr: '203.0.113.7', $scheme: 'https' }[String(value)],
    ]),
  );
  const { Upgrade: _upgrade, Connection: _connection, ...headers } = passed as Record<string, string>;
  const server = await startServer({
    args: ['--behind-proxy', '--allow-host', 'tau.example.org', '--base-path', basePath],
  });

  const fromPage = new RemotePeer(`${server.url}?token=${OWNER_TOKEN}`, {
    headers: { ...headers, origin: 'https://tau.example.org' },
  });
  const fromElsewhere = new RemotePeer(`${server.url}?token=${OWNER_TOKEN}`, {
    headers: { ...headers, origin: 'https://evil.example' },
  });

  expect(await fromPage.next('server_connected')).toMatchObject({ sessionId: expect.any(String) });
  expect(await fromElsewhere.ended).toMatchObject({ code: 1006 });
  expect(server.stderr()).toContain('refused origin');
});
