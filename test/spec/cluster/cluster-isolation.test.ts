import { afterEach, expect, it } from 'vitest';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { metricsOf } from '../../support/cluster/node-metrics.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { FaultyProxy } from '../../support/faults/faulty-proxy.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import type { Target } from '../../support/server/attack-target.ts';

// A lease ends after three quarters of this time.
const cluster = testCluster({ keyLifeMs: 12_000 });

const WAIT_MS = { timeout: 20_000 };

/** Starts a node whose line to NATS can be cut; its model stops in the middle of an answer until the gate opens. */
async function startBehindProxy(name: string, cwd: string) {
  const gate = newGate();
  const proxy = await FaultyProxy.to(Number(new URL(cluster.server.url).port));
  const script = [
    { steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: '^wait', keep: true },
    { text: 'hello', when: '.', keep: true },
  ];
  const node = await startNode(`nats://127.0.0.1:${proxy.port}`, name, {
    cwd,
    script,
    args: [...ONE_REPLICA, '--log-level', 'info'],
  });
  return { node, proxy, gate };
}

async function readiness(node: Target): Promise<[number, object]> {
  const { status, body } = await node.get('/readyz');
  return [status, JSON.parse(body) as object];
}

/** Waits until a node accepts no new clients, and checks what a client gets. */
async function expectUnavailable(node: Target): Promise<void> {
  await expect.poll(async () => (await readiness(node))[0], WAIT_MS).toBe(503);
  expect((await readiness(node))[1]).toEqual({
    code: 'unavailable',
    error: expect.stringMatching(/^The server is unavailable: (NATS is not connected|the cluster does not answer)$/),
  });
  const late = await node.connect({});
  expect(await late.ended).toMatchObject({ code: 1013, reason: expect.stringMatching(/^The server is unavailable/) });
}

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W161] [W144] clients of a node that is cut off receive nothing that is not in the log, and find their session on another', async () => {
  const { cwd } = newHome();
  const { node: a, proxy, gate } = await startBehindProxy('a', cwd);
  const b = await startNode(cluster.server.url, 'b', { cwd, args: ONE_REPLICA });
  const client = await a.connect({});
  await client.run('one');
  const { sessionId } = await client.location();
  const [, pid = ''] = /run settled .*pid=(\d+)/.exec(a.stderr()) ?? [];
  await client.ok({ type: 'prompt', message: 'wait' });
  await client.find((record) => JSON.stringify(record).includes('Well, '));

  proxy.swallow();
  const { length } = client.records;
  gate.open();
  client.send({ id: 'late', type: 'set_session_name', name: 'Not stored' });
  await expectUnavailable(a);

  expect(await client.ended).toMatchObject({ code: 1012 });
  const types = client.records.slice(length).map(({ type }) => type);
  for (const type of ['response', 'message_end', 'agent_settled']) expect(types).not.toContain(type);
  await expect.poll(() => filterAlive([Number(pid)]), WAIT_MS).toEqual([]);
  const elsewhere = await b.connect({ session: sessionId });
  expect((await elsewhere.next('state_synced')).messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'user' },
  ]);
  await elsewhere.run('two');

  proxy.recover();
  await expect.poll(() => readiness(a), WAIT_MS).toEqual([200, { status: 'ready' }]);
  const back = await a.connect({ session: sessionId });
  expect((await back.next('state_synced')).messages).toHaveLength(5);
  expect(await metricsOf(a)).toMatchObject({ tau_cluster_nats_connected: 1, tau_cluster_remote_handles: 1 });
  expect(a.stderr()).toMatch(/lease lost node=a incarnation=\S+/);
  expect(a.stderr()).toMatch(/lease regained node=a incarnation=\S+/);
});

it('[W161] while NATS is away for less than a lease, new clients get 1013 and those of the node wait', async () => {
  const { cwd } = newHome();
  const { node, proxy } = await startBehindProxy('c', cwd);
  const client = await node.connect({});
  await client.run('one');

  proxy.swallow();
  const running = client.run('two');
  await expectUnavailable(node);
  proxy.recover();

  await running;
  await expect.poll(() => readiness(node), WAIT_MS).toEqual([200, { status: 'ready' }]);
  await (await node.connect({})).next('state_synced');
  expect(node.stderr()).not.toContain('lease lost');
});
