import { expect, it, onTestFinished } from 'vitest';
import { NatsCluster } from '../../../test/support/cluster/nats-cluster.ts';
import { connectCluster } from './connection.ts';
import { CLUSTER_STREAMS } from './names.ts';
import { createBuckets, createLogStream, NODE_KEY_LIFE_MS } from './setup.ts';

it('a repeated setup gives the stream and all buckets the new number of replicas', async () => {
  const servers = await NatsCluster.start(NODE_KEY_LIFE_MS);
  onTestFinished(() => servers.stop());
  const connection = await connectCluster({ servers: servers.urls, name: 'test' });
  onTestFinished(() => connection.nats.close());
  const replicasAfter = async (replicas: number) => {
    await createLogStream(connection, { replicas, maxBytes: 64 * 1024 * 1024 });
    await createBuckets(connection, { replicas });
    const infos = await Promise.all(CLUSTER_STREAMS.map((name) => connection.manager.streams.info(name)));
    return infos.map(({ config }) => config.num_replicas);
  };

  expect(await replicasAfter(1)).toEqual(CLUSTER_STREAMS.map(() => 1));
  expect(await replicasAfter(3)).toEqual(CLUSTER_STREAMS.map(() => 3));
});
