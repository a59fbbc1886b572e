import { afterEach, expect, it } from 'vitest';
import { newHome, writeSettings } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { metricsOf } from '../../support/cluster/node-metrics.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';

const cluster = testCluster();

// Characters of an answer; a run sends more than twice as much.
const LONG = 1_000_000;

// Enough runs to exceed the socket buffers and the event queue of a client.
const MAX_RUNS = 40;

const WAIT_MS = { timeout: 40_000 };

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W145] [W33] a client of another node that stops reading is closed by its node, and the others get all', async () => {
  const { cwd } = newHome();
  // By the reported usage the context is never full.
  const steps = [{ text: 'x'.repeat(LONG), chunks: 50 }, { usage: { input: 1, output: 1 } }];
  const script = [{ steps, when: '.', keep: true }];
  const start = (name: string) => {
    const home = newHome();
    writeSettings(home, { compaction: { enabled: false } });
    return startNode(cluster.server.url, name, { cwd, home, script, args: ONE_REPLICA });
  };
  const owner = await start('a');
  const other = await start('b');
  const reader = await owner.connect({ stream: 'delta' });
  await reader.run('Hi');
  const { sessionId } = await reader.location();
  const query = { session: sessionId, stream: 'delta', tail: '1' };
  const [stalled, remote] = [await other.connect(query), await other.connect(query)];
  for (const client of [stalled, remote]) await client.next('state_synced');

  stalled.socket.pause();
  let isClosed = false;
  let runs = 0;
  const running = (async () => {
    for (; !isClosed && runs < MAX_RUNS; runs++) {
      await reader.run('Hi');
      await remote.next('agent_settled');
    }
  })();
  await expect.poll(async () => (await metricsOf(other))['tau_clients'], WAIT_MS).toBe(1);
  stalled.socket.resume();
  isClosed = true;

  expect(await stalled.ended).toEqual({ code: 4408, reason: 'The client reads too slowly' });
  await running;
  await remote.run('Hi');
});
