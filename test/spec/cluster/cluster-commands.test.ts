import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { DiscardPolicy } from '@nats-io/jetstream';
import { expect, it, onTestFinished } from 'vitest';
import { connectCluster } from '../../../src/server/cluster/connection.ts';
import { FencedLog } from '../../../src/server/cluster/log/fenced-log.ts';
import { bucketStream, LOG_STREAM, logSubject, NODES_BUCKET } from '../../../src/server/cluster/names.ts';
import { newHome, TAU, writeSettings } from '../../support/agent/test-agent.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { newMembers } from '../../support/cluster/nats-cluster.ts';
import { startNatsServer } from '../../support/cluster/nats-server.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { freePort } from '../../support/faults/server-process.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';

const cluster = testCluster();

const tauCluster = (verb: string, ...args: readonly string[]) => runTau(newHome(), ['cluster', verb, ...args]);

const check = (...args: readonly string[]) => tauCluster('check', cluster.server.url, ...ONE_REPLICA, ...args);

/** Listens on a free port of the loopback address until the end of the test. */
async function listening<T extends Server>(server: T): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A monitoring port of a server with these facts. */
async function monitor(name: string, { config, aheadMs = 0 }: { config: object; aheadMs?: number }): Promise<string> {
  const server = createHttpServer((request, response) => {
    const now = new Date(Date.now() + aheadMs).toISOString();
    response.end(JSON.stringify(request.url?.startsWith('/jsz') ? { config } : { now, server_name: name }));
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

it('[W154] tau cluster check prints a line per check, and leaves nothing in the log', async () => {
  // A check that was killed leaves records.
  const leftover = new FencedLog(cluster.connection, '_check', { name: 'check', incarnation: 'old' });
  await leftover.claim(undefined);

  const { code, stdout, stderr } = await check();

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^ok +server \S+ +version 2\.\d+\.\d+ at nats:/m);
  expect(stdout).toMatch(/^ok +log +TAU: 1 replica/m);
  expect(stdout).toMatch(/^ok +nodes +KV_tau_nodes: .* keys live 20 s$/m);
  expect(stdout).toMatch(/^ok +index +KV_tau_index: /m);
  expect(stdout).toMatch(/^ok +auth +KV_tau_auth: /m);
  expect(stdout).toMatch(/^ok +appends +[\d.]+ ms, the slowest of 20 [\d.]+ ms$/m);
  expect(stdout).toMatch(/^warning +sync +Not checked: .*--nats-monitor/m);
  const { state } = await cluster.connection.manager.streams.info(LOG_STREAM);
  expect(state.messages).toBe(0);
});

it('[W154] tau cluster check reads from the monitoring ports whether a record is on disk, and compares the clocks', async () => {
  const http = await freePort();
  const url = await startServer(`server_name: n1\nhttp: 127.0.0.1:${http}`);
  await tauCluster('init', url, '--max-bytes', '64M', ...ONE_REPLICA);
  const checkWith = (...monitors: readonly string[]) =>
    tauCluster('check', url, ...ONE_REPLICA, ...monitors.flatMap((address) => ['--nats-monitor', address]));
  const own = `http://127.0.0.1:${http}`;
  const lazy = await monitor('n2', { config: { sync_always: false, sync_interval: 120_000_000_000 } });
  const ahead = await monitor('n3', { config: { sync_always: true }, aheadMs: 5000 });

  const good = await checkWith(own);
  expect(good).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok +sync n1 /m) });
  const unsafe = await checkWith(`${own},${lazy}`);
  expect(unsafe).toMatchObject({ code: 1, stdout: expect.stringMatching(/^error +sync n2 .*last 120 s.*always$/m) });
  expect(unsafe.stdout).toMatch(/^ok +clocks/m);
  const skewed = await checkWith(own, ahead);
  expect(skewed).toMatchObject({ code: 1, stdout: expect.stringMatching(/^error +clocks .*n1 and n3 differ by/m) });
  const silent = await checkWith(`http://127.0.0.1:${await freePort()}`);
  expect(silent).toMatchObject({ code: 1, stdout: expect.stringMatching(/^error +sync http.*does not answer/m) });
});

it('[W154] tau cluster check fails for servers and streams that could lose records, with what to do', async () => {
  const url = await startServer('');
  const empty = await tauCluster('check', url, '--json');
  expect(empty.code).toBe(1);
  const { ok, findings } = JSON.parse(empty.stdout) as { ok: boolean; findings: { status: string; message: string }[] };
  expect(ok).toBe(false);
  expect(findings.filter(({ status }) => status === 'error').map(({ message }) => message)).toEqual(
    ['TAU', 'KV_tau_nodes', 'KV_tau_index', 'KV_tau_auth'].map(
      (name) => `The stream ${name} does not exist: create it with tau cluster init`,
    ),
  );
  await tauCluster('init', url, '--max-bytes', '64M', '--lease-seconds', '5', ...ONE_REPLICA);
  const single = await tauCluster('check', url);
  expect(single).toMatchObject({ code: 1, stdout: expect.stringContaining('allow it with --cluster-replicas 1') });
  const short = await tauCluster('check', url, ...ONE_REPLICA);
  expect(short).toMatchObject({ code: 0, stdout: expect.stringMatching(/^warning +nodes +.*--lease-seconds 20$/m) });
});

it('[W146] a repeated tau cluster init keeps the leases, and shrinks the log only while that leaves room', async () => {
  const url = await startServer('');
  const init = (...args: readonly string[]) => tauCluster('init', url, ...ONE_REPLICA, '--max-bytes', ...args);
  const connection = await connectCluster({ servers: [url], name: 'test' });
  onTestFinished(() => connection.nats.close());
  const leaseSeconds = async () =>
    (await connection.manager.streams.info(bucketStream(NODES_BUCKET))).config.max_age / 1e9;
  const limit = async () => (await connection.manager.streams.info(LOG_STREAM)).config.max_bytes;

  expect(await init('8M', '--lease-seconds', '5')).toMatchObject({ code: 0, stdout: 'The cluster is set up.\n' });
  expect(await init('8M')).toMatchObject({ code: 0, stdout: 'The cluster is set up.\n' });
  expect(await leaseSeconds()).toBe(5);
  expect((await init('8M', '--lease-seconds', '30')).stdout).toBe(
    'Leases now last 30 s instead of 5 s: restart the nodes that are running.\nThe cluster is set up.\n',
  );
  expect(await leaseSeconds()).toBe(30);
  expect((await init('4M')).stdout).toContain('The log may now hold 4 MB instead of 8 MB.\n');
  await connection.js.publish(logSubject('any'), new Uint8Array(900_000));
  await connection.js.publish(logSubject('any'), new Uint8Array(900_000));
  const refused = await init('3M');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/The log may hold 4 MB and holds 1\.72 MB: 3 MB would be too small\n$/);
  expect(await limit()).toBe(4 * 1024 ** 2);
  expect(await init('16M')).toMatchObject({ code: 0, stdout: 'The cluster is set up.\n' });
});

it('[W146] tau cluster init waits for a NATS server that starts late, and prints for what', async () => {
  const members = await newMembers();
  onTestFinished(() => Promise.all(members.map((member) => member.end('SIGKILL'))).then(() => {}));
  const [late, ...others] = members;
  await Promise.all(others.map((member) => member.start()));
  const urls = members.map(({ url }) => url).join(',');
  const init = startProgram(newHome(), [process.execPath, TAU, 'cluster', 'init', urls, '--max-bytes', '8M']);
  await expect
    .poll(init.stderr)
    .toBe('tau: Waiting for NATS servers with room for the stream (no suitable peers for placement)\n');

  await late?.start();

  expect(await init.finished).toMatchObject({ code: 0, stdout: 'The cluster is set up.\n' });
});

/** A server of an old version, as far as a client notices. */
async function oldServer(): Promise<string> {
  const info = {
    server_id: 'old',
    version: '2.9.10',
    max_payload: 1_048_576,
    proto: 1,
    headers: true,
    jetstream: true,
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => data.includes('PING') && socket.write('PONG\r\n'));
  });
  return `nats://127.0.0.1:${await listening(server)}`;
}

it('[W146 W154] a server, stream or credential that cannot be used is refused by a node and by check, each with one line', async () => {
  const home = newHome();
  const nkey = join(home.root, 'node.nk');
  writeFileSync(nkey, SEED);
  const ca = join(home.root, 'ca.pem');
  writeFileSync(ca, 'no certificate');
  const withoutJetStream = await startServer('jetstream: false');
  const withKeys = await startServer(ONLY_ANOTHER_KEY);
  const forgetful = await startServer('');
  await tauCluster('init', forgetful, '--max-bytes', '64M', ...ONE_REPLICA);
  const connection = await connectCluster({ servers: [forgetful], name: 'test' });
  await connection.manager.streams.update(LOG_STREAM, { discard: DiscardPolicy.Old });
  await connection.nats.close();
  const old = 'The NATS server is version 2.9.10. Versions before 2.10.23 can lose data: update it';
  const cases: readonly (readonly [url: string, args: readonly string[], message: string])[] = [
    [await oldServer(), [], old],
    [withoutJetStream, [], 'The NATS server has no JetStream: enable it in its configuration'],
    [withKeys, ['--nats-nkey', nkey], 'rejects the credentials'],
    [cluster.server.url, ['--nats-ca', ca], 'has no TLS: configure it, or connect without --nats-ca'],
    [forgetful, [], 'The stream TAU removes old records when it is full: it needs discard "new"'],
  ];

  for (const [url, args, message] of cases) {
    const node = await runTau(home, ['serve', '--cluster', url, '--node', 'x', ...ONE_REPLICA, ...args]);
    expect(node).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^[^\n]*\n$/) });
    expect(node.stderr).toContain(message);
    expect(node.stderr).not.toContain(SEED);
    const checked = await runTau(home, ['cluster', 'check', url, ...ONE_REPLICA, ...args]);
    expect(checked.code).toBe(1);
    expect(checked.stdout.split('\n').filter((line) => line.startsWith('error'))).toEqual([
      expect.stringContaining(message),
    ]);
  }
});

const SEED = 'SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY';

const ONLY_ANOTHER_KEY =
  'authorization { users: [{ nkey: UCNGL4W5QX66CFX6A6DCBVDH5VOHMI7B2UZZU7TXAUQQSI2JPHULCKBR }] }';

/** A server with these lines of configuration, until the end of the test. */
async function startServer(config: string): Promise<string> {
  const server = await startNatsServer({ config });
  onTestFinished(() => server.stop());
  return server.url;
}

it('[W154] no output of tau cluster holds a secret', async () => {
  const home = newHome();
  const nkey = join(home.root, 'node.nk');
  writeFileSync(nkey, SEED);
  const url = await startServer(ONLY_ANOTHER_KEY);
  for (const verb of ['check', 'nodes', 'init']) {
    const size = verb === 'init' ? ['--max-bytes', '64M'] : [];
    const { code, stdout, stderr } = await runTau(home, ['cluster', verb, url, '--nats-nkey', nkey, ...size]);
    expect(code).toBe(1);
    expect(stdout + stderr).toContain('rejects the credentials');
    expect(stdout + stderr).not.toContain(SEED);
  }
  for (const args of [
    [addressWithSecret('nats')],
    [cluster.server.url, '--nats-monitor', addressWithSecret('http')],
    [`http://user:secret-word@127.0.0.1:1`],
  ]) {
    const { code, stdout, stderr } = await tauCluster('check', ...args);
    expect(code).toBe(2);
    expect(stdout + stderr).not.toContain('secret-word');
  }
});

const addressWithSecret = (scheme: string) => `${scheme}://user:secret-word@127.0.0.1:1`;

it('[W155] tau cluster nodes lists the nodes with their facts, and warns where they differ', async () => {
  const { cwd } = newHome();
  expect(await tauCluster('nodes', cluster.server.url)).toMatchObject({ code: 0, stdout: 'No nodes.\n' });
  const [plain, changed] = [newHome(), newHome()];
  const a = await startNode(cluster.server.url, 'a', { home: plain, cwd, args: ONE_REPLICA });
  await (await a.connect({})).run('one');
  const b = await startNode(cluster.server.url, 'b', { home: newHome(), cwd, args: ONE_REPLICA });

  await expect.poll(async () => (await tauCluster('nodes', cluster.server.url)).stdout).toMatch(/^a .* 1 +1 +yes/m);
  const equal = await tauCluster('nodes', cluster.server.url);
  expect(equal).toMatchObject({ code: 0, stderr: '' });
  const [head = '', first = '', second = ''] = equal.stdout.split('\n');
  expect(head.split(/ +/)).toEqual([
    'NODE',
    'INCARNATION',
    'VERSION',
    'PROTOCOL',
    'AGENTS',
    'ROOM',
    'DRAINING',
    'SETTINGS',
    'SHARED',
  ]);
  expect(first).toMatch(new RegExp(`^a +[0-9a-f]{8} .* 1 +1 +yes +no +[0-9a-f]{12} +${cwd}$`));
  expect(second).toMatch(/^b /);

  await b.stop();
  writeSettings(changed, { defaultModel: 'tau/scripted' });
  await startNode(cluster.server.url, 'c', { home: changed, cwd, args: ONE_REPLICA });
  const differing = await tauCluster('nodes', cluster.server.url, '--json');
  expect(differing.stderr).toContain('The settings or models of the nodes differ: a / c');
  const nodes = differing.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(nodes).toMatchObject([
    { name: 'a', agents: 1, shared: [cwd], protocol: 1 },
    { name: 'c', agents: 0 },
  ]);
});

it.each([
  [['nodes'], 'takes the addresses of NATS servers'],
  [['nodes', 'nats://127.0.0.1:1', 'more'], 'takes the addresses of NATS servers'],
  [['peers', 'nats://127.0.0.1:1'], 'tau cluster takes keys, init, check, nodes'],
  [['nodes', 'ftp://127.0.0.1:1'], 'Not the address of a NATS server'],
  [['check', 'nats://127.0.0.1:1', '--max-bytes', '1G'], '--max-bytes goes with tau cluster init'],
  [['init', 'nats://127.0.0.1:1', '--max-bytes', '300K'], '--max-bytes takes a whole number with M, G or T'],
  [['init', 'nats://127.0.0.1:1'], 'tau cluster init requires --max-bytes'],
  [['nodes', 'nats://127.0.0.1:1', '--nats-nkey', 'a', '--nats-creds', 'b'], 'contradict each other'],
  [['nodes', 'nats://127.0.0.1:1'], 'No NATS server answers at nats://127.0.0.1:1'],
])('[W155] a wrong command line of tau cluster gets one line: %j', async (args, message) => {
  const { code, stdout, stderr } = await runTau(newHome(), ['cluster', ...args]);
  expect(code).not.toBe(0);
  expect({ stdout, lines: stderr.trim().split('\n').length }).toEqual({ stdout: '', lines: 1 });
  expect(stderr).toContain(message);
  if (code === 2) expect(stderr).toContain('(see tau help cluster)');
});
