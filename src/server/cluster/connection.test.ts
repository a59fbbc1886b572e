import { expect, it } from 'vitest';
import { startNatsServer } from '../../../test/support/cluster/nats-server.ts';
import { connectCluster, disconnect } from './connection.ts';

it('[W169] a connection ends within some seconds while the servers are away', async () => {
  const server = await startNatsServer();
  const connection = await connectCluster({ servers: [server.url], name: 'test' });
  connection.nats.subscribe('some.subject');
  await server.stop();

  await disconnect(connection);

  expect(connection.nats.isClosed()).toBe(true);
}, 10_000);
