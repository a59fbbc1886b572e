import { expect, it } from 'vitest';
import { TEST_FACTS, testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { statusesOf } from './node-facts.ts';
import { NodeLease } from './node-lease.ts';

const cluster = testCluster();

const sessions = (count: number, status: 'running' | 'idle') =>
  Array.from({ length: count }, (_, index) => ({ sessionId: `${status}-${index}`.padEnd(128, 'x'), status }));

it('[W163] a node with as many sessions as it may have renews its lease, and shows those that run', async () => {
  const hosts = [...sessions(9_990, 'idle'), ...sessions(10, 'running')];
  const facts = () => ({ ...TEST_FACTS, statuses: statusesOf(hosts) });
  const running = Object.values(facts().statuses).filter((status) => status === 'running');
  expect(running).toHaveLength(10);

  const lease = await NodeLease.take(cluster.connection, { name: 'large', facts });

  expect(lease.lost.aborted).toBe(false);
  await lease.release();
});

it('[W163] the states of a few sessions are all in the key', () => {
  expect(
    statusesOf([
      { sessionId: 'a', status: 'idle' },
      { sessionId: 'b', status: 'waiting' },
    ]),
  ).toEqual({ a: 'idle', b: 'waiting' });
});
