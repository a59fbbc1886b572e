import { type KV, Kvm } from '@nats-io/kv';
import { expect, it } from 'vitest';
import { testCluster } from '../../../test/support/cluster/test-cluster.ts';
import { followBucket } from './follow-bucket.ts';
import { INDEX_BUCKET } from './names.ts';

const cluster = testCluster();

it('[W163] a watch that ends is reported and opened again', async () => {
  const { nats, js } = await cluster.connect();
  const bucket: KV = await new Kvm(js).open(INDEX_BUCKET);
  const seen: string[] = [];
  const errors: unknown[] = [];
  const watch = await bucket.watch();
  void followBucket(watch, {
    nats,
    open: () => bucket.watch(),
    onEntry: ({ key }) => void seen.push(key),
    onError: (error) => void errors.push(error),
  });
  await bucket.put('one', '1');
  await expect.poll(() => seen).toEqual(['one']);

  watch.stop();
  await expect.poll(() => errors).toHaveLength(1);
  await bucket.put('two', '2');

  await expect.poll(() => seen).toEqual(['one', 'one', 'two']);
});
