import { headers } from '@nats-io/transport-node';
import { afterEach, expect, it } from 'vitest';
import { FencedLog } from '../../../src/server/cluster/log/fenced-log.ts';
import { LOG_STREAM, logSubject, nodeSubject } from '../../../src/server/cluster/names.ts';
import { newHome, writeSettings } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { metricsOf } from '../../support/cluster/node-metrics.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { FaultyProxy } from '../../support/faults/faulty-proxy.ts';
import type { Target } from '../../support/server/attack-target.ts';

const cluster = testCluster();

const start = (name: string, cwd: string, { url = cluster.server.url, home = newHome() } = {}) =>
  startNode(url, name, { cwd, home, args: [...ONE_REPLICA, '--log-level', 'info'] });

/** Starts a node whose connection to NATS can be disturbed. */
async function startBehindProxy(name: string, cwd: string) {
  const proxy = await FaultyProxy.to(Number(new URL(cluster.server.url).port));
  return { proxy, node: await start(name, cwd, { url: `nats://127.0.0.1:${proxy.port}` }) };
}

/** The incarnation that the node has logged. */
async function incarnationOf(node: Target): Promise<string> {
  await expect.poll(node.stderr).toMatch(/node began .*incarnation=/);
  return /node began .*incarnation=(\S+)/.exec(node.stderr())?.[1] ?? '';
}

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W160] the metrics of a node count appends, take-overs and clients in sessions of other nodes', async () => {
  const { cwd } = newHome();
  const a = await start('a', cwd);
  const first = await a.connect({});
  await first.run('one');
  const { sessionId } = await first.location();
  const ofFirst = await metricsOf(a);
  expect(ofFirst['tau_cluster_appends_total{outcome="stored"}']).toBeGreaterThan(0);
  expect(ofFirst['tau_cluster_append_seconds_count']).toBe(ofFirst['tau_cluster_appends_total{outcome="stored"}']);
  expect(ofFirst['tau_cluster_append_seconds_bucket{le="+Inf"}']).toBe(ofFirst['tau_cluster_append_seconds_count']);
  expect(ofFirst).toMatchObject({
    tau_cluster_nats_connected: 1,
    tau_cluster_remote_handles: 0,
    tau_cluster_deposed_total: 0,
    tau_cluster_log_regressed_total: 0,
    tau_cluster_channel_gaps_total: 0,
    tau_cluster_nodes_with_other_settings: 0,
  });
  await a.stop();
  expect(a.stderr()).toMatch(/node ended node=a incarnation=\S+/);

  const b = await start('b', cwd);
  await (await b.connect({ session: sessionId })).next('state_synced');
  expect(await metricsOf(b)).toMatchObject({ 'tau_cluster_takeovers_total{why="release"}': 1 });
  expect(b.stderr()).toMatch(
    new RegExp(`session taken over node=b incarnation=\\S+ sessionId=${sessionId} from=a why=release`),
  );
  process.kill(b.pid, 'SIGKILL');

  const c = await start('c', cwd);
  const third = await c.connect({ session: sessionId });
  await third.next('state_synced');
  expect(await metricsOf(c)).toMatchObject({ 'tau_cluster_takeovers_total{why="gone"}': 1 });
  const home = newHome();
  writeSettings(home, { compaction: { enabled: false } });
  const d = await start('d', cwd, { home });
  await (await d.connect({ session: sessionId })).next('state_synced');
  expect(await metricsOf(d)).toMatchObject({ tau_cluster_remote_handles: 1 });
  await expect.poll(async () => (await metricsOf(d))['tau_cluster_nodes_with_other_settings']).toBeGreaterThan(0);
});

it('[W160] [W161] a node that was disconnected gives up a session that another node has claimed, and logs it', async () => {
  const { cwd } = newHome();
  const { proxy, node } = await startBehindProxy('e', cwd);
  const incarnation = await incarnationOf(node);
  const client = await node.connect({});
  await client.run('one');
  const { sessionId } = await client.location();
  const thief = new FencedLog(cluster.connection, sessionId, { name: 'thief', incarnation: '1' });
  expect(await thief.claim(await thief.readLast())).toBe(true);

  proxy.reset();

  expect(await client.ended).toMatchObject({ code: 1012 });
  await expect.poll(async () => (await metricsOf(node))['tau_cluster_deposed_total']).toBe(1);
  const self = `node=e incarnation=${incarnation}`;
  expect(node.stderr()).toContain(`NATS disconnected ${self}`);
  expect(node.stderr()).toContain(`NATS connected again ${self}`);
  expect(node.stderr()).toContain(`session lost to another node ${self} sessionId=${sessionId} to=thief`);
});

it('[W160] a missing message between nodes and a log that lost records are counted and logged', async () => {
  const { cwd } = newHome();
  const node = await start('f', cwd);
  const incarnation = await incarnationOf(node);
  const send = (number: number) => {
    const head = headers();
    head.set('Tau-From', 'peer.1');
    head.set('Tau-Number', String(number));
    cluster.connection.nats.publish(nodeSubject({ name: 'f', incarnation }, 'channel'), '', { headers: head });
  };
  send(1);
  send(3);
  await expect.poll(async () => (await metricsOf(node))['tau_cluster_channel_gaps_total']).toBe(1);
  expect(node.stderr()).toContain(`channel closed by a gap node=f incarnation=${incarnation} from=peer`);

  const client = await node.connect({});
  await client.run('one');
  const { sessionId } = await client.location();
  await cluster.connection.manager.streams.purge(LOG_STREAM, { filter: logSubject(sessionId) });
  client.send({ type: 'prompt', message: 'two' });
  await client.ended;
  expect((await metricsOf(node))['tau_cluster_log_regressed_total']).toBeGreaterThan(0);
  expect(node.stderr()).toContain(
    `log lacks acknowledged records node=f incarnation=${incarnation} sessionId=${sessionId}`,
  );
});
