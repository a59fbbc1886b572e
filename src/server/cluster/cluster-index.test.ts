import { Kvm } from '@nats-io/kv';
import { expect, it } from 'vitest';
import { testCluster } from '../../../test/support/cluster/test-cluster.ts';
import { ClusterIndex, type IndexedSession } from './cluster-index.ts';
import { INDEX_BUCKET } from './names.ts';

const cluster = testCluster();

const sessionAt = (id: string, lastModified: string): IndexedSession => ({
  id,
  path: `time_${id}.jsonl`,
  cwd: '/work',
  firstMessage: 'hello',
  lastModified,
  messageCount: 1,
  node: 'a',
});

it('[W163] malformed values of the bucket are in no list and move no other session', async () => {
  const index = await ClusterIndex.open(cluster.connection, () => {});
  const bucket = await new Kvm(cluster.connection.js).open(INDEX_BUCKET);
  const ids = ['s1', 's2', 's3', 's4'];
  for (const [at, id] of ids.entries()) await index.put(sessionAt(id, `2026-01-0${at + 1}`));
  expect(index.list({}).sessions.map(({ id }) => id)).toEqual(ids.toReversed());

  const malformed = ['null', '[]', 'no JSON', '{"id":"m","messageCount":1}', JSON.stringify(sessionAt('s2', '2026'))];
  for (const [at, text] of malformed.entries()) await bucket.put(`m${at}`, text);
  await bucket.put('s5', JSON.stringify(sessionAt('s5', '2026-01-05')));

  await expect.poll(() => index.find('s5')).toBeDefined();
  expect(index.list({}).sessions.map(({ id }) => id)).toEqual([...ids, 's5'].toReversed());
});
