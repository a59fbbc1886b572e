import { afterAll, beforeAll } from 'vitest';
import { type ClusterConnection, connectCluster } from '../../../src/server/cluster/connection.ts';
import { CLUSTER_PROTOCOL } from '../../../src/server/cluster/names.ts';
import type { NodeFacts } from '../../../src/server/cluster/nodes/node-facts.ts';
import { createBuckets, createLogStream, NODE_KEY_LIFE_MS } from '../../../src/server/cluster/setup.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

/** The facts of a node without sessions. */
export const TEST_FACTS: NodeFacts = {
  version: 'test',
  protocol: CLUSTER_PROTOCOL,
  shared: [],
  agents: 0,
  hasRoom: true,
  isDraining: false,
  statuses: {},
  settings: '',
};

const MAX_BYTES = 256 * 1024 * 1024;

/** A server of NATS for the tests of a file, with the stream and the buckets of a cluster. */
export interface TestCluster {
  readonly server: NatsServer;
  readonly connection: ClusterConnection;
  /** Opens another connection, which is closed at the end. */
  readonly connect: () => Promise<ClusterConnection>;
}

interface TestClusterOptions {
  /** The lifetime of the nodes' keys; shorter than by default where a test waits for the end of a lease. */
  readonly keyLifeMs?: number;
}

/** Call at the top of a test file; the fields are set before its first test. */
export function testCluster({ keyLifeMs = NODE_KEY_LIFE_MS }: TestClusterOptions = {}): TestCluster {
  const opened: ClusterConnection[] = [];
  const state = {} as { server: NatsServer; connection: ClusterConnection };
  const connect = async () => {
    const connection = await connectCluster({ servers: [state.server.url], name: 'test' });
    opened.push(connection);
    return connection;
  };
  beforeAll(async () => {
    state.server = await startNatsServer();
    state.connection = await connect();
    await createLogStream(state.connection, { replicas: 1, maxBytes: MAX_BYTES });
    await createBuckets(state.connection, { replicas: 1, keyLifeMs });
  });
  afterAll(async () => {
    await Promise.all(opened.map(({ nats }) => nats.close()));
    await state.server.stop();
  });
  return {
    get server() {
      return state.server;
    },
    get connection() {
      return state.connection;
    },
    connect,
  };
}
