import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Kvm } from '@nats-io/kv';
import { afterEach, expect, it } from 'vitest';
import { connectCluster } from '../../../src/server/cluster/connection.ts';
import { AUTH_BUCKET, bucketStream } from '../../../src/server/cluster/names.ts';
import { digestOf } from '../../../src/store/tokens/token-record.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { type NatsServer, startNatsServer } from '../../support/cluster/nats-server.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { runTau } from '../../support/processes/program.ts';
import { filesBelow, readAll, type Target } from '../../support/server/attack-target.ts';

const cluster = testCluster();

const REVOKED = { code: 1008, reason: 'Invalid authentication token' };

/** Starts a node whose new sessions are in this folder. */
const start = (name: string, cwd: string, args: readonly string[] = []) =>
  startNode(cluster.server.url, name, { cwd, args: [...ONE_REPLICA, ...args] });

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

/** Runs `tau token` on the tokens of the cluster, from a machine that has nothing of it. */
async function tauToken(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runTau(newHome(), ['token', ...args, '--cluster', cluster.server.url]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout.trim();
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The holder that a node recognises by these headers; the status of its refusal if there is none. */
async function holderOn(node: Target, headers: Record<string, string>): Promise<string | number> {
  const { status, body } = await node.get('/api/me', { headers });
  return status === 200 ? (JSON.parse(body) as { name: string }).name : status;
}

const holdersOn = (nodes: readonly Target[], headers: Record<string, string>) =>
  Promise.all(nodes.map((node) => holderOn(node, headers)));

const known = (nodes: readonly Target[], headers: Record<string, string>) =>
  expect.poll(() => holdersOn(nodes, headers), { timeout: 10_000 });

/** Logs in through a node and returns the headers of a page that has the cookie. */
async function logIn(node: Target, credential: object): Promise<{ cookie: string; origin: string }> {
  const { status, headers } = await node.post('/api/login', credential);
  expect(status).toBe(200);
  const [cookie = ''] = String(headers['set-cookie']).split(';');
  return { cookie, origin: `http://127.0.0.1:${node.port}` };
}

it('[W150] a token that the command line created is accepted by all nodes, and revoking it closes its sockets there', async () => {
  const { cwd } = newHome();
  const nodes = [await start('a', cwd), await start('b', cwd)] as const;
  const token = await tauToken('create', '--name', 'phone', '--scope', 'view,prompt');
  await known(nodes, bearer(token)).toEqual(['phone', 'phone']);
  const [first, second] = [await nodes[0].connect({ token }), await nodes[1].connect({ token })];
  await first.run('one');
  await second.next('state_synced');
  expect(await second.refused({ type: 'bash', command: 'true' })).toMatchObject({ code: 'permission_denied' });
  await expect
    .poll(() => tauToken('list', '--json').then((line) => JSON.parse(line)), { timeout: 10_000 })
    .toMatchObject({ name: 'phone', scopes: ['view', 'prompt'], lastUsedAt: expect.any(String) });

  await tauToken('revoke', 'phone');

  expect(await Promise.all([first.ended, second.ended])).toEqual([REVOKED, REVOKED]);
  await known(nodes, bearer(token)).toEqual([401, 401]);
  expect(await tauToken('list')).toBe('No tokens.');
});

it('[W150] a token with paths lists and opens the same sessions through each node', async () => {
  const { cwd } = newHome();
  const [inside, outside] = [join(cwd, 'inside'), join(cwd, 'outside')];
  for (const folder of [inside, outside]) mkdirSync(folder);
  const nodes = [await start('c', cwd), await start('d', cwd)] as const;
  const ids: string[] = [];
  for (const folder of [inside, outside]) {
    const client = await nodes[0].connect({ cwd: folder });
    await client.run('one');
    ids.push((await client.location()).sessionId);
  }
  const token = await tauToken('create', '--name', 'limited', '--path', inside);
  await known(nodes, bearer(token)).toEqual(['limited', 'limited']);

  for (const node of nodes) {
    const { body } = await node.get('/api/sessions', { headers: bearer(token) });
    expect((JSON.parse(body) as { sessions: { id: string }[] }).sessions.map(({ id }) => id)).toEqual([ids[0]]);
    await (await node.connect({ token, session: ids[0] ?? '' })).next('state_synced');
    expect(await (await node.connect({ token, session: ids[1] ?? '' })).ended).toMatchObject({ code: 4404 });
    expect(await (await node.connect({ token, cwd: outside })).ended).toMatchObject({ code: 4403 });
  }
});

it.each([
  [['create', '--name', 'x', '--path', 'src'], '--path takes an absolute path with --cluster'],
  [['create', '--name', 'x', '--scope', 'all'], '--scope must be of'],
  [['list', '--node', 'a'], '--node does not go with tau token'],
  [['list', '--cluster-replicas', '1'], '--cluster-replicas does not go with tau token'],
])('[A16 W150] tau token %j refuses flags that have no meaning for a cluster', async (args, message) => {
  const { code, stderr } = await runTau(newHome(), ['token', ...args, '--cluster', cluster.server.url]);

  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
});

it.each(['nats-creds', 'nats-nkey', 'nats-ca'])('[A16 W150] --%s goes with --cluster', async (flag) => {
  for (const args of [['token', 'list'], ['serve']]) {
    const { code, stderr } = await runTau(newHome(), [...args, `--${flag}`, 'file']);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`--${flag} goes with`) });
  }
});

it('[W150] a token ends at its expiry on every node', async () => {
  const { cwd } = newHome();
  const nodes = [await start('e', cwd), await start('f', cwd)] as const;
  const bucket = await new Kvm(cluster.connection.js).open(AUTH_BUCKET);
  const now = Date.now();
  const entry = { name: 'short', sha256: digestOf('short'), scopes: ['view'], createdAt: new Date(now).toISOString() };
  await bucket.put('token.00000001', JSON.stringify({ ...entry, expiresAt: new Date(now + 3000).toISOString() }));
  await known(nodes, bearer('short')).toEqual(['short', 'short']);
  const { sessionId } = await (await nodes[0].connect({})).location();

  const clients = await Promise.all(nodes.map((node) => node.connect({ token: 'short', session: sessionId })));

  expect(await Promise.all(clients.map(({ ended }) => ended))).toEqual([REVOKED, REVOKED]);
  expect(await holdersOn(nodes, bearer('short'))).toEqual([401, 401]);
});

it('[W151] a login through one node is valid on all, and a logout through another ends it on all', async () => {
  const { cwd } = newHome();
  const nodes = [await start('g', cwd), await start('h', cwd)] as const;
  const headers = await logIn(nodes[0], { code: nodes[0].code });
  const other = await logIn(nodes[1], { code: nodes[1].code });
  await known(nodes, { cookie: headers.cookie }).toEqual(['owner', 'owner']);
  const pageOf = (node: Target) => ({ cookie: headers.cookie, origin: `http://127.0.0.1:${node.port}` });
  const clients = await Promise.all(nodes.map((node) => node.connect({ token: null }, { headers: pageOf(node) })));

  expect((await nodes[1].post('/api/logout', {}, pageOf(nodes[1]))).status).toBe(200);

  expect(await Promise.all(clients.map(({ ended }) => ended))).toEqual([REVOKED, REVOKED]);
  expect(await holdersOn(nodes, { cookie: headers.cookie })).toEqual([401, 401]);
  expect(await holdersOn(nodes, { cookie: other.cookie })).toEqual(['owner', 'owner']);
});

it('[W151] a login with a token is valid on all nodes, and ends on all with the token', async () => {
  const { cwd } = newHome();
  const nodes = [await start('i', cwd), await start('j', cwd)] as const;
  const token = await tauToken('create', '--name', 'page', '--expires', '1h');
  await known(nodes, bearer(token)).toEqual(['page', 'page']);
  const { cookie } = await logIn(nodes[0], { token });
  await known(nodes, { cookie }).toEqual(['page', 'page']);

  await tauToken('revoke', 'page');

  await known(nodes, { cookie }).toEqual([401, 401]);
});

it('[W151] the code of a printed link is redeemed once, on whichever node is first', async () => {
  const { cwd } = newHome();
  const nodes = [await start('k', cwd), await start('l', cwd)] as const;

  for (const { code } of nodes) {
    const responses = await Promise.all([...nodes, ...nodes].map((node) => node.post('/api/login', { code })));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
  }
});

it('[W152] the bucket, the logs and the files of nodes hold no token, cookie or code', async () => {
  const { cwd } = newHome();
  const a = await start('m', cwd, ['--log-level', 'debug']);
  const token = await tauToken('create', '--name', 'secret');
  await known([a], bearer(token)).toEqual(['secret']);
  const { cookie } = await logIn(a, { token });
  await logIn(a, { code: a.code });
  await a.stop();

  const { manager } = cluster.connection;
  const { state } = await manager.streams.info(bucketStream(AUTH_BUCKET));
  const stored: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(bucketStream(AUTH_BUCKET), { seq });
    if (message) stored.push(`${message.subject} ${message.string()}`);
  }
  const everything = [...stored, readAll(filesBelow(a.home.root)), a.stderr()].join('\n');

  // The token itself, with or without its last use, and its login.
  expect(stored.filter((text) => text.includes(digestOf(token)))).toHaveLength(2);
  expect(a.stderr()).toContain('logged in');
  for (const secret of [token, cookie.split('=')[1] ?? '', a.code]) expect(everything.includes(secret)).toBe(false);
});

it('[W152] values that are malformed grant nothing and stop no node', async () => {
  const { cwd } = newHome();
  const first = await start('n', cwd);
  const bucket = await new Kvm(cluster.connection.js).open(AUTH_BUCKET);
  const entry = { name: 'x', sha256: digestOf('x'), scopes: ['admin'], createdAt: '2026-01-01T00:00:00Z' };
  const login = { id: '0badf00d', source: 'owner', expiresAt: 9e15 };
  const values: Record<string, unknown> = {
    'token.0badf001': '{"name": ',
    'token.0badf002': [entry],
    'token.0badf003': { ...entry, scopes: 'admin' },
    'token.0badf004': { ...entry, sha256: [digestOf('x')] },
    'token.0badf005': { ...entry, expires: '2020-01-01' },
    'token.0badf006': { ...entry, allowedPaths: '/' },
    'token.0badf007': { ...entry, expiresAt: 'never' },
    'token.owner': entry,
    'token.owner/x': entry,
    'token.__proto__': entry,
    [`login.${digestOf('x')}`]: { ...login, expiresAt: 'never' },
    [`login.${digestOf('y')}`]: { ...login, scopes: ['admin'] },
    [`login.${digestOf('z')}`]: { ...login, id: 'x'.repeat(1000) },
    'login.x': login,
    [`code.${digestOf('x')}`]: 'null',
    [`code.${digestOf('y')}`]: { source: 'env' },
    'code.x': { source: 'owner' },
    other: entry,
  };
  for (const [key, value] of Object.entries(values))
    cluster.connection.nats.publish(
      `$KV.${AUTH_BUCKET}.${key}`,
      typeof value === 'string' ? value : JSON.stringify(value),
    );
  await bucket.put('token.0badf008', JSON.stringify({ ...entry, sha256: digestOf('good') }));
  const second = await start('o', cwd);

  await known([first, second], bearer('good')).toEqual(['x', 'x']);
  expect(await holdersOn([first, second], bearer('x'))).toEqual([401, 401]);
  const cookieName = (await logIn(first, { code: first.code })).cookie.split('=')[0] ?? '';
  for (const secret of ['x', 'y', 'z']) {
    expect(await holdersOn([first, second], { cookie: `${cookieName}=${secret}` })).toEqual([401, 401]);
    expect((await second.post('/api/login', { code: secret })).status).toBe(401);
  }
  const { stderr } = await runTau(newHome(), ['token', 'list', '--cluster', cluster.server.url]);
  expect(stderr).toContain('tau_auth: token 0badf004 is ignored: sha256 must be a string');
  await tauToken('revoke', '0badf001');
});

/** Starts servers with the data of an earlier one, after it was killed. */
async function restart(server: NatsServer, port?: number): Promise<NatsServer> {
  await server.stop('SIGKILL');
  return startNatsServer({ storeDir: server.storeDir, ...(port === undefined ? {} : { port }) });
}

it('[W153] without NATS known tokens stay valid and nothing new is granted; what was revoked meanwhile ends afterwards', async () => {
  const { cwd } = newHome();
  let server = await startNatsServer();
  const { url } = server;
  const port = Number(new URL(url).port);
  const run = async (at: string, ...args: string[]) => {
    const { code, stdout, stderr } = await runTau(
      newHome(),
      args.map((word) => (word === '@' ? at : word)),
    );
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return stdout.trim();
  };
  await run(url, 'cluster', 'init', '@', '--max-bytes', '64M', ...ONE_REPLICA);
  const nodes = await Promise.all(['a', 'b'].map((name) => startNode(url, name, { cwd, args: ONE_REPLICA })));
  const [kept, revoked] = [
    await run(url, 'token', 'create', '--name', 'kept', '--cluster', '@'),
    await run(url, 'token', 'create', '--name', 'revoked', '--cluster', '@'),
  ];
  await known(nodes, bearer(kept)).toEqual(['kept', 'kept']);
  await known(nodes, bearer(revoked)).toEqual(['revoked', 'revoked']);
  const [first, second] = nodes as [Target, Target];
  const { cookie } = await logIn(first, { token: revoked });

  await server.stop('SIGKILL');
  expect(await holdersOn(nodes, bearer(kept))).toEqual(['kept', 'kept']);
  expect(await holdersOn(nodes, { cookie })).toEqual(['revoked', 'revoked']);
  const refused = await Promise.all([
    first.post('/api/login', { token: kept }),
    second.post('/api/login', { code: second.code }),
  ]);
  for (const { status, body } of refused)
    expect({ status, ...JSON.parse(body) }).toMatchObject({ status: 503, code: 'overloaded' });

  // The nodes do not reach the server while it is at another port.
  server = await restart(server);
  await run(server.url, 'token', 'revoke', 'revoked', '--cluster', '@');
  const added = await run(server.url, 'token', 'create', '--name', 'added', '--cluster', '@');
  server = await restart(server, port);

  await known(nodes, bearer(revoked)).toEqual([401, 401]);
  await known(nodes, bearer(added)).toEqual(['added', 'added']);
  expect(await holdersOn(nodes, { cookie })).toEqual([401, 401]);
  expect(await holdersOn(nodes, bearer(kept))).toEqual(['kept', 'kept']);
  const later = await run(url, 'token', 'create', '--name', 'later', '--cluster', '@');
  await known(nodes, bearer(later)).toEqual(['later', 'later']);
  for (const node of nodes) await node.stop();
  await server.stop();
});

it('[W146] a cluster without a bucket for tokens is refused until tau cluster init has created it', async () => {
  const server = await startNatsServer();
  const { cwd } = newHome();
  const init = ['cluster', 'init', server.url, '--max-bytes', '64M', ...ONE_REPLICA];
  await runTau(newHome(), init);
  const { manager, nats } = await connectCluster({ servers: [server.url], name: 'test' });
  await manager.streams.delete(bucketStream(AUTH_BUCKET));
  await nats.close();

  for (const args of [
    ['serve', '--cluster', server.url, '--node', 'x', ...ONE_REPLICA],
    ['token', 'list', '--cluster', server.url],
  ]) {
    const { code, stderr } = await runTau(newHome(), args);
    expect({ code, lines: stderr.trim().split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringContaining('The bucket tau_auth does not exist: create it with tau cluster init')],
    });
  }
  expect((await runTau(newHome(), ['cluster', 'check', server.url, ...ONE_REPLICA])).stdout).toContain(
    'The stream KV_tau_auth does not exist: create it with tau cluster init',
  );
  expect(await runTau(newHome(), init)).toMatchObject({ code: 0 });
  const node = await startNode(server.url, 'x', { cwd, args: ONE_REPLICA });
  await node.stop();
  await server.stop();
});
