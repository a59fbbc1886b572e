import { readFileSync } from 'node:fs';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { auditLogs } from '../../support/cluster/audit.ts';
import { ONE_REPLICA, startNode } from '../../support/cluster/cluster-nodes.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';

const cluster = testCluster();

const PARK_AT_ONCE = ['--park-after', '0'];

afterEach(async () => {
  await auditLogs([cluster.server.url]);
});

it('[W56] a client that connects while a node releases a parked session waits for it', async () => {
  const { cwd } = newHome();
  const node = await startNode(cluster.server.url, 'parking', { cwd, args: [...ONE_REPLICA, ...PARK_AT_ONCE] });
  const first = await node.connect({});
  await first.run('one');
  const { sessionId } = await first.location();

  // The release cannot be stored until NATS continues.
  process.kill(cluster.server.pid, 'SIGSTOP');
  const resume = () => process.kill(cluster.server.pid, 'SIGCONT');
  onTestFinished(() => void resume());
  first.socket.close();
  await expect.poll(() => agentsOf(node.pid)).toEqual([]);
  const second = await node.connect({ session: sessionId });
  resume();

  expect((await second.next('state_synced'))['messages']).toHaveLength(2);
});

it('[W143] a node that stops while it releases a parked session stores the release', async () => {
  const { cwd } = newHome();
  const node = await startNode(cluster.server.url, 'ending', { cwd, args: [...ONE_REPLICA, ...PARK_AT_ONCE] });
  const first = await node.connect({});
  await first.run('one');
  const { sessionId } = await first.location();

  process.kill(cluster.server.pid, 'SIGSTOP');
  first.socket.close();
  await expect.poll(() => agentsOf(node.pid)).toEqual([]);
  const stopped = node.stop();
  process.kill(cluster.server.pid, 'SIGCONT');
  await stopped;

  const logs = await auditLogs([cluster.server.url]);
  expect(logs.get(sessionId)?.records.at(-1)?.kind).toBe('release');
});

/** The agents of a server. */
function agentsOf(pid: number): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return children.filter((child) => commandOf(child).includes('--session-dir'));
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
