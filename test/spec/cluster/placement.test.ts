import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { type AuditedLog, auditLogs } from '../../support/cluster/audit.ts';
import { agentsOf, type NodeOptions, ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import type { Target, TargetClient } from '../../support/server/attack-target.ts';

const cluster = testCluster();

const start = (name: string, { args = [], ...options }: NodeOptions) =>
  startNode(cluster.server.url, name, { ...options, args: [...ONE_REPLICA, ...args] });

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

/** A new session of a node, with one prompt. */
async function newSession(node: Target, query: Record<string, string> = {}) {
  const client = await node.connect(query);
  await client.run('one');
  const { sessionId } = await client.location();
  return { client, sessionId };
}

/** Connects to a session, and again as long as the server requests that. */
async function attach(node: Target, session: string): Promise<TargetClient> {
  for (;;) {
    const client = await node.connect({ session });
    const isAttached = await Promise.race([
      client.find('state_synced').then(() => true),
      client.ended.then(() => false),
    ]).catch(() => false);
    if (isAttached) return client;
    expect((await client.ended).code).toBe(1012);
  }
}

it('[W145] twenty clients that open a session through three nodes at the same moment share one agent', async () => {
  const { cwd } = newHome();
  const nodes = [await start('a1', { cwd }), await start('b1', { cwd }), await start('c1', { cwd })];
  const [a] = nodes as [Target, Target, Target];
  const { client, sessionId } = await newSession(a);
  client.socket.terminate();
  await a.stop();
  const again = await start('a1', { cwd });
  const others = [again, ...nodes.slice(1)];

  const clients = await Promise.all(
    Array.from({ length: 20 }, (_, index) => attach(others[index % 3] as Target, sessionId)),
  );

  expect(others.flatMap(agentsOf)).toHaveLength(1);
  const [first, ...rest] = clients as [TargetClient, ...TargetClient[]];
  const { runId } = await first.ok({ type: 'prompt', message: 'two' });
  for (const one of rest) await one.find((record) => record.type === 'agent_settled' && record['runId'] === runId);
});

it('[W166] a session whose folder is not shared stays on its node, and is refused while that is away', async () => {
  const [homeA, homeB] = [newHome(), newHome()];
  const a = await start('a2', { cwd: homeA.cwd, shared: [] });
  const b = await start('b2', { cwd: homeB.cwd, shared: [] });
  const { client, sessionId } = await newSession(a);
  client.socket.terminate();

  const through = await b.connect({ session: sessionId });
  await through.run('two');
  expect([agentsOf(a), agentsOf(b)].map(({ length }) => length)).toEqual([1, 0]);
  await a.stop();

  const refused = await b.connect({ session: sessionId });
  const reason = 'Its folder is on node a2, which is away';
  expect(await refused.ended).toMatchObject({ code: 4409, reason: expect.stringContaining(reason) });
  const { client: other } = await newSession(b);
  const { sessions } = await other.ok({ type: 'list_sessions' });
  const { path } = sessions.find(({ id }: { id: string }) => id === sessionId);
  expect(await other.refused({ type: 'switch_session', sessionPath: path })).toMatchObject({
    code: 'session_in_use',
    error: expect.stringContaining(reason),
  });

  const again = await start('a2', { cwd: homeA.cwd, shared: [] });
  await other.ok({ type: 'switch_session', sessionPath: path });
  expect((await other.ok({ type: 'get_state' })).cwd).toBe(homeA.cwd);
  await other.run('three');
  expect([agentsOf(again), agentsOf(b)].map(({ length }) => length)).toEqual([1, 0]);
});

it('[W166] sessions that are created beside another one are in its folder, on its node', async () => {
  const [homeA, homeB] = [newHome(), newHome()];
  const a = await start('a3', { cwd: homeA.cwd, shared: [] });
  const b = await start('b3', { cwd: homeB.cwd, shared: [] });
  const { sessionId } = await newSession(a);
  const client = await b.connect({ session: sessionId });
  const [entry] = (await client.ok({ type: 'get_fork_messages' })).messages;

  await client.ok({ type: 'fork', entryId: entry.entryId });
  await client.run('two');
  expect((await client.ok({ type: 'get_state' })).cwd).toBe(homeA.cwd);
  await client.ok({ type: 'new_session' });
  await client.run('three');
  expect((await client.ok({ type: 'get_state' })).cwd).toBe(homeA.cwd);
  expect(agentsOf(b)).toEqual([]);
});

it('[W166] a session is never opened in another folder because its own is missing', async () => {
  const { cwd } = newHome();
  const folder = join(cwd, 'work');
  mkdirSync(folder);
  const a = await start('a4', { cwd });
  const { client, sessionId } = await newSession(a, { cwd: folder });
  client.socket.terminate();
  await a.stop();
  const b = await start('b4', { cwd });
  rmSync(folder, { recursive: true });

  const refused = await b.connect({ session: sessionId });

  const reason = 'Its folder is missing on node b4';
  expect(await refused.ended).toMatchObject({ code: 4409, reason: expect.stringContaining(reason) });
  mkdirSync(folder);
  expect((await (await attach(b, sessionId)).ok({ type: 'get_state' })).cwd).toBe(folder);
});

it('[W167] a node without room, and one that serves no sessions, give them to another', async () => {
  const { cwd } = newHome();
  const front = await start('front5', { cwd, args: ['--max-sessions', '0'] });
  const none = await front.connect({});
  expect(await none.ended).toMatchObject({ code: 1013, reason: 'No node has room for the session' });
  const a = await start('a5', { cwd, args: ['--max-sessions', '1'] });
  const b = await start('b5', { cwd, args: ['--max-sessions', '1'] });

  const first = await newSession(front);
  const second = await newSession(front);
  expect([front, a, b].map((node) => agentsOf(node).length)).toEqual([0, 1, 1]);
  for (const node of [front, a, b]) {
    const refused = await node.connect({});
    expect(await refused.ended).toMatchObject({ code: 1013, reason: 'No more than 1 sessions at a time' });
  }

  first.client.socket.terminate();
  await expect.poll(async () => (await startedBy(a)).type).toBe('server_connected');
  await second.client.run('two');
});

/** The first event of a new client. */
const startedBy = async (node: Target) =>
  (await node.connect({})).find(({ type }) => type === 'server_connected' || type === 'server_disconnected');

it('[W168] the folder of a session whose node is away is prepared once for all clients, before the session is owned', async () => {
  const { root } = newHome();
  const folder = join(root, 'only-on-a');
  mkdirSync(folder);
  const a = await start('a6', { cwd: folder, shared: [] });
  const { client, sessionId } = await newSession(a);
  client.socket.terminate();
  await a.stop();
  rmSync(folder, { recursive: true });
  const runs = join(root, 'runs');
  const gate = join(root, 'gate');
  const command = `echo "$TAU_SESSION $TAU_CWD" >> ${runs}; until test -e ${gate}; do sleep 0.05; done; test -e ${gate}.fail && { echo first; echo 'no such branch' >&2; exit 3; }; mkdir -p "$TAU_CWD"`;
  const home = newHome();
  const b = await start('b6', { cwd: home.cwd, shared: [], args: ['--prepare-workspace', command] });
  const front = await start('front6', { cwd: home.cwd, shared: [], args: ['--max-sessions', '0'] });
  const ranWith = () => (existsSync(runs) ? readFileSync(runs, 'utf8').trim().split('\n') : []);

  const failing = await Promise.all([b.connect({ session: sessionId }), front.connect({ session: sessionId })]);
  await expect.poll(ranWith).toEqual([`${sessionId} ${folder}`]);
  writeFileSync(`${gate}.fail`, '');
  writeFileSync(gate, '');
  for (const one of failing)
    expect(await one.ended).toMatchObject({ code: 4409, reason: expect.stringMatching(/prepared: no such branch$/) });
  // A client that arrives after the failure starts the command again, once.
  expect(ranWith().length).toBeLessThanOrEqual(2);
  const { records } = (await auditLogs([cluster.server.url])).get(sessionId) as AuditedLog;
  expect(records.some(({ writer }) => writer.name !== 'a6')).toBe(false);
  expect(records.at(-1)).toMatchObject({ kind: 'release' });

  rmSync(`${gate}.fail`);
  rmSync(gate);
  rmSync(runs);
  const clients = await Promise.all([b, front, b, front].map((node) => node.connect({ session: sessionId })));
  await expect.poll(ranWith).toHaveLength(1);
  writeFileSync(gate, '');
  for (const one of clients) expect((await one.find('state_synced'))['messages']).toHaveLength(2);
  for (const one of clients) expect((await one.ok({ type: 'get_state' })).cwd).toBe(folder);
  expect(ranWith()).toHaveLength(1);
  expect([agentsOf(b), agentsOf(front)].map(({ length }) => length)).toEqual([1, 0]);
});

it('[W168] a preparation ends with its node', async () => {
  const { root } = newHome();
  const folder = join(root, 'only-on-a');
  mkdirSync(folder);
  const a = await start('a7', { cwd: folder, shared: [] });
  const { client, sessionId } = await newSession(a);
  client.socket.terminate();
  await a.stop();
  rmSync(folder, { recursive: true });
  const pids = join(root, 'pids');
  const args = ['--prepare-workspace', `echo $$ >> ${pids}; sleep 600 & echo $! >> ${pids}; wait`];
  const b = await start('b7', { cwd: root, shared: [], args });
  const c = await start('c7', { cwd: root, shared: [], args });
  const [first, second] = [await b.connect({ session: sessionId }), await c.connect({ session: sessionId })];
  const running = () => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []);
  await expect.poll(running).toHaveLength(4);

  process.kill(b.pid, 'SIGKILL');
  await c.stop();

  expect(await first.ended).toMatchObject({ code: 1006 });
  expect(await second.ended).toMatchObject({ code: 1012 });
  await expect.poll(() => filterAlive(running())).toEqual([]);
});
