import { Kvm } from '@nats-io/kv';
import { expect, it, onTestFinished } from 'vitest';
import { TEST_FACTS, testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { NODES_BUCKET } from '../names.ts';
import { NodeLease } from './node-lease.ts';

const cluster = testCluster();

// No renewal is due during a test.
const TIMES = { renewMs: 60_000, stopMs: 60_000, silenceMs: 500 };

it('a renewal whose answer was lost counts only after the next one', async () => {
  const lease = await NodeLease.take(cluster.connection, { name: 'a', facts: () => TEST_FACTS, times: TIMES });
  onTestFinished(() => lease.release());
  const bucket = await new Kvm(cluster.connection.js).open(NODES_BUCKET);
  const key = { incarnation: lease.identity.incarnation, ...TEST_FACTS };
  const stored = await bucket.put('a', JSON.stringify(key));

  lease.publish();

  await expect.poll(async () => (await bucket.get('a'))?.revision).toBe(stored + 1);
  expect(lease.lost.aborted).toBe(false);
});

it('a key that another life of the node has taken ends the lease', async () => {
  const lease = await NodeLease.take(cluster.connection, { name: 'b', facts: () => TEST_FACTS, times: TIMES });
  onTestFinished(() => lease.release());
  const bucket = await new Kvm(cluster.connection.js).open(NODES_BUCKET);
  const { lost } = lease;
  await bucket.put('b', JSON.stringify({ incarnation: 'other', ...TEST_FACTS }));

  lease.publish();

  await expect.poll(() => lost.aborted).toBe(true);
});

it('a key that the servers refuse ends the start', async () => {
  const facts = () => ({ ...TEST_FACTS, shared: ['x'.repeat(2 * 1024 * 1024)] });

  await expect(NodeLease.take(cluster.connection, { name: 'c', facts, times: TIMES })).rejects.toThrow(/max_payload/i);
});
