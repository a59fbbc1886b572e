import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkConflicts } from '../../../src/cli/flags/flag-conflicts.ts';
import { type CliArguments, type Flag, flags } from '../../../src/cli/flags/flags.ts';
import { parseFlags } from '../../../src/cli/flags/parse-flags.ts';
import { sendRequest } from '../../../src/server/http/testing/raw-clients.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { operatorsGuide, shellBlocksUnder } from '../../support/cluster/operators-guide.ts';
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

const units = ['systemd/tau.service', 'systemd/tau-cluster.service', 'systemd/user/tau.service'];

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

/** The flags by which a node listens, in a command with the name of the node; each with its value. */
const listenFlags = (command: string) =>
  [...command.replaceAll('%H', 'node-a').matchAll(/--(?:host|behind-proxy|allow-host)\b(?: (?!--)\S+)?/g)].flatMap(
    ([flag]) => flag.split(' '),
  );

it('a node of the guide and of its unit serves a proxy on another machine, and requests under its own name', async () => {
  const [, command = ''] = /Start the nodes: `(tau serve .+)`/.exec(operatorsGuide) ?? [];
  const [unit = ''] = readUnit('systemd/tau-cluster.service').get('Service ExecStart') ?? [];

  expect(listenFlags(unit)).toEqual(listenFlags(command));
  const server = await startServer({ args: listenFlags(command) });
  const port = Number(new URL(server.url).port);
  // An address of this machine at which a server without --host does not listen.
  const request = (host: string) => sendRequest({ host: '127.0.0.2', port, path: '/readyz', headers: { host } });
  expect(await request('tau.example.org')).toMatchObject({ status: 200 });
  expect(await request('node-a:4170')).toMatchObject({ status: 200 });
  expect(await request(`127.0.0.2:${port}`)).toMatchObject({ status: 200 });
  expect(await request('node-b:4170')).toMatchObject({ status: 421 });
});

interface ComposeService {
  readonly image: string;
  readonly entrypoint?: string;
  readonly command?: string;
  readonly environment?: Record<string, string>;
  readonly volumes: string[];
  readonly stop_grace_period?: string;
  readonly secrets?: string[];
  readonly healthcheck?: { test: string[] };
}

interface ComposeFile {
  readonly services: Record<string, ComposeService>;
  readonly volumes: object;
  readonly secrets: object;
}

const compose = parse(read('compose.yaml'), { merge: true }) as ComposeFile;
const servicesOf = (pattern: RegExp) => Object.entries(compose.services).filter(([name]) => pattern.test(name));

/** The arguments of the image before those of a service. */
const entrypoint = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(read('Dockerfile'))?.[1] ?? '[]') as string[];

/** Parses arguments as the program does. */
function parsed([program, ...args]: readonly string[]): CliArguments {
  const result = parseFlags(args);
  checkConflicts(result);
  expect([program, [...result.unknown.keys()]]).toEqual(['tau', []]);
  return result;
}

it('compose.yaml starts three nodes with names and agent folders of their own, and one workspace', () => {
  const nodes = servicesOf(/^tau-/).map(([, { command = '', ...service }]) => ({
    ...service,
    args: parsed([...entrypoint, ...command.split(' ')]),
  }));

  expect(nodes).toHaveLength(3);
  expect(new Set(nodes.map(({ args }) => args.node)).size).toBe(3);
  expect(new Set(nodes.map(({ volumes }) => volumes.find((volume) => volume.endsWith(':/agent')))).size).toBe(3);
  for (const { args, volumes, secrets, stop_grace_period: grace } of nodes) {
    expect(args).toMatchObject({ shared: ['/work'], 'nats-nkey': '/run/secrets/node', 'nats-ca': '/tls/ca.pem' });
    expect(volumes).toEqual(expect.arrayContaining(['work:/work', './tls/ca.pem:/tls/ca.pem:ro']));
    expect(secrets).toEqual(['node']);
    expect(Number.parseInt(grace ?? '', 10)).toBeGreaterThan(Number(flags['drain-seconds'].default) + STOP_SECONDS);
  }
  const init = parsed(compose.services['init']?.entrypoint?.split(' ') ?? []);
  expect(init.positionals).toEqual(['cluster', 'init', nodes[0]?.args.cluster]);
  expect(compose.services['init']?.secrets).toEqual(['admin']);
});

/** The variables that the configuration of NATS reads. */
const natsVariables = new Set(
  [
    ...read('nats/server.conf')
      .replaceAll(/^ *#.*$/gm, '')
      .matchAll(/\$((?:NATS|TAU)_[A-Z_]+)\b/g),
  ].map(([, name]) => name),
);

it('the guide starts a NATS server with each variable that the configuration reads', () => {
  const command = shellBlocksUnder('Production').find((block) => block.includes('nats-server -c server.conf')) ?? '';

  expect(new Set([...command.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name))).toEqual(natsVariables);
});

it('compose.yaml runs the tested configuration of NATS, with each variable that it reads', () => {
  const servers = servicesOf(/^nats-/);

  expect(servers.map(([name]) => name)).toEqual(['nats-1', 'nats-2', 'nats-3']);
  for (const [name, { image, environment = {}, volumes, stop_grace_period, healthcheck }] of servers) {
    expect(new Set(Object.keys(environment))).toEqual(natsVariables);
    expect(environment).toMatchObject({ NATS_NAME: name, NATS_MONITOR: '0.0.0.0:8222' });
    expect(environment['NATS_ROUTES']).toContain(`tls://${name}:6222`);
    expect(volumes).toEqual(expect.arrayContaining([`${name}:/data`, `./tls/${name}.pem:/tls/server.pem:ro`]));
    expect(image).toMatch(/^nats:2\.10\.(?:2[3-9]|[3-9]\d)-alpine$/);
    expect(stop_grace_period).toBe('60s');
    expect(healthcheck?.test.at(-1)).toBe('http://127.0.0.1:8222/healthz?js-enabled-only=true');
  }
});

it('compose.yaml names volumes, secrets and files that exist', () => {
  const mounts = Object.values(compose.services).flatMap(({ volumes }) =>
    volumes.map((volume) => volume.split(':')[0] ?? ''),
  );
  const secrets = Object.values(compose.services).flatMap((service) => service.secrets ?? []);

  expect(new Set(mounts.filter((mount) => !mount.startsWith('.')))).toEqual(new Set(Object.keys(compose.volumes)));
  expect(new Set(secrets)).toEqual(new Set(Object.keys(compose.secrets)));
  // Keys and certificates are made by the operator.
  for (const mount of mounts.filter((name) => name.startsWith('./') && !name.startsWith('./tls/')))
    expect(existsSync(join(root, 'deploy', mount)), mount).toBe(true);
});

it('cluster.Caddyfile proxies to every node, and its health checks are accepted by one', async () => {
  const caddyfile = read('cluster.Caddyfile');
  const upstreams = /reverse_proxy (.+) \{/.exec(caddyfile)?.[1]?.split(' ');
  const [, path = ''] = /health_uri (\S+)/.exec(caddyfile) ?? [];
  const [, host = ''] = /^\t+Host (\S+)/m.exec(caddyfile) ?? [];
  const server = await startServer({ args: ['--behind-proxy', '--allow-host', 'tau.example.org'] });
  const { port } = new URL(server.url);

  expect(upstreams).toEqual(servicesOf(/^tau-/).map(([name]) => `${name}:${flags.port.default}`));
  const check = (name: string) => sendRequest({ port: Number(port), path, headers: { host: name } });
  expect(await check(host)).toMatchObject({ status: 200 });
  expect(await check(upstreams?.[0] ?? '')).toMatchObject({ status: 421 });
});
