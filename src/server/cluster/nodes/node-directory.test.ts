import { Kvm } from '@nats-io/kv';
import { expect, it } from 'vitest';
import { TEST_FACTS, testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { CLUSTER_PROTOCOL, NODES_BUCKET } from '../names.ts';
import { NodeDirectory } from './node-directory.ts';

const cluster = testCluster({ keyLifeMs: 2000 });

it('[W163] malformed keys are reported, and hide no node', async () => {
  const bucket = await new Kvm(cluster.connection.js).open(NODES_BUCKET);
  await bucket.put('none', 'null');
  await bucket.put('half', JSON.stringify({ incarnation: '1', version: 'test', protocol: CLUSTER_PROTOCOL }));
  await bucket.put('whole', JSON.stringify({ ...TEST_FACTS, incarnation: '2', statuses: { s: 'idle' } }));
  const errors: unknown[] = [];

  const directory = await NodeDirectory.open(cluster.connection, (error) => void errors.push(error));

  expect(errors).toEqual([expect.objectContaining({ message: 'The key of node none is malformed' })]);
  expect(directory.all.map(({ name }) => name).sort()).toEqual(['half', 'whole']);
  expect([directory.statusOf('s'), directory.statusOf('other')]).toEqual(['idle', undefined]);
});
