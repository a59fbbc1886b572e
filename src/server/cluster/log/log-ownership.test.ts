import { expect, it } from 'vitest';
import { startNatsServer } from '../../../../test/support/cluster/nats-server.ts';
import { TEST_FACTS, testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { ownershipContract } from '../../hosting/testing/ownership-contract.ts';
import { connectCluster } from '../connection.ts';
import { logSubject } from '../names.ts';
import { type LeaseTimes, NodeLease } from '../nodes/node-lease.ts';
import { createBuckets, createLogStream } from '../setup.ts';
import { LogOwnership } from './log-ownership.ts';

const cluster = testCluster();
const TIMES: LeaseTimes = { renewMs: 100, stopMs: 3000, silenceMs: 300 };

let nodes = 0;
let sessions = 0;

async function newNode(name = `node-${++nodes}`) {
  const connection = await cluster.connect();
  const lease = await NodeLease.take(connection, { name, facts: () => TEST_FACTS, times: TIMES });
  return { connection, lease, ownership: new LogOwnership(connection, lease) };
}

/** Claims with ids of their own, because all tests share one log. */
async function separateOwnership() {
  const { ownership } = await newNode();
  const prefix = `contract-${++sessions}`;
  return { claim: (sessionId: string) => ownership.claim(`${prefix}-${sessionId}`) };
}

ownershipContract('claims in the log of a cluster', separateOwnership);

it('a session that a living node owns cannot be claimed, and can after its release', async () => {
  const [a, b] = [await newNode(), await newNode()];
  const claim = await a.ownership.claim('handed-over');

  expect(await b.ownership.claim('handed-over')).toBeUndefined();
  await claim?.release();
  expect(await b.ownership.claim('handed-over')).toBeDefined();
});

it('of two nodes that claim a free session at once one gets it', async () => {
  const all = await Promise.all([newNode(), newNode(), newNode()]);

  const claims = await Promise.all(all.map(({ ownership }) => ownership.claim('raced')));

  expect(claims.filter((claim) => claim !== undefined)).toHaveLength(1);
});

it('the session of a dead node can be claimed, and what the dead one still appends is refused', async () => {
  const [a, b] = [await newNode(), await newNode()];
  const claim = await a.ownership.claim('orphaned');
  await claim?.append('entries', Buffer.from('kept\n'));
  const { log } = claim ?? {};
  await a.connection.nats.close();

  const next = await b.ownership.claim('orphaned');

  expect(next?.token).toBeGreaterThan(claim?.token ?? Number.POSITIVE_INFINITY);
  expect(await next?.log.readLast()).toMatchObject({ kind: 'claim', writer: { name: b.lease.identity.name } });
  expect(log?.sessionId).toBe('orphaned');
});

/** Takes the sessions of living nodes, as a node does that took them for dead. */
const thiefAt = ({ connection, lease }: Awaited<ReturnType<typeof newNode>>) =>
  new LogOwnership(connection, {
    identity: lease.identity,
    lost: lease.lost,
    isGone: async () => true,
    requestRelease: async () => false,
  });

it('a claim is lost when another node has taken the session', async () => {
  const [a, b] = [await newNode(), await newNode()];
  const claim = await a.ownership.claim('taken');
  expect(await thiefAt(b).claim('taken')).toBeDefined();

  await expect(claim?.append('entries', Buffer.from('late\n'))).rejects.toThrow('The session is owned elsewhere');
  expect(claim?.lost.aborted).toBe(true);
});

it('[W161] a log that cannot be read does not keep a node from giving up the other sessions', async () => {
  const [a, b] = [await newNode(), await newNode()];
  await a.ownership.claim('unreadable');
  const claim = await a.ownership.claim('readable');
  await a.connection.js.publish(logSubject('unreadable'), 'no record');
  expect(await thiefAt(b).claim('readable')).toBeDefined();

  await expect(a.ownership.checkHeld()).rejects.toThrow('has an unknown form');

  expect(claim?.lost.aborted).toBe(true);
});

it('[W144] a node that loses its lease while it claims a session gives the claim up', async () => {
  const { connection, lease, ownership } = await newNode();
  await ownership.claim('half-claimed');
  const lost = new AbortController();
  const loser = new LogOwnership(connection, {
    identity: { name: 'loser', incarnation: '1' },
    lost: lost.signal,
    isGone: async () => {
      lost.abort();
      return true;
    },
    requestRelease: async () => false,
  });

  await expect(loser.claim('half-claimed')).rejects.toThrow('This node cannot reach the cluster');
  expect(lease.lost.aborted).toBe(false);
});

it('[W146] two nodes cannot have the same name', async () => {
  const first = await newNode('twin');

  await expect(newNode('twin')).rejects.toThrow('A node with the name twin is running: choose another one with --node');
  expect(first.lease.lost.aborted).toBe(false);
});

it('a node takes over the name of its dead predecessor before its key has expired', async () => {
  const first = await newNode('restarted');
  await first.connection.nats.close();

  const second = await newNode('restarted');

  expect(second.lease.identity.incarnation).not.toBe(first.lease.identity.incarnation);
});

it('[W144] a node without an answer for too long loses its lease, and with it all claims', async () => {
  const { connection, lease, ownership } = await newNode();
  const claim = await ownership.claim('cut-off');

  await connection.nats.close();
  await new Promise((resolve) => lease.lost.addEventListener('abort', resolve));

  expect(claim?.lost.aborted).toBe(true);
  await claim?.release();
  await expect(ownership.claim('another')).rejects.toThrow('This node cannot reach the cluster');
});

it('[W144] a node that lost its lease works again when the cluster is back, under another incarnation', async () => {
  const server = await startNatsServer();
  const connection = await connectCluster({ servers: [server.url], name: 'test' });
  await createLogStream(connection, { replicas: 1, maxBytes: 1024 * 1024 });
  await createBuckets(connection, { replicas: 1 });
  const lease = await NodeLease.take(connection, { name: 'returns', facts: () => TEST_FACTS, times: TIMES });
  const ownership = new LogOwnership(connection, lease);
  const claim = await ownership.claim('kept');
  const { incarnation } = lease.identity;
  const lost = new Promise((resolve) => lease.lost.addEventListener('abort', resolve));
  await server.stop('SIGKILL');
  await lost;
  await claim?.release();

  const back = await startNatsServer({ port: Number(new URL(server.url).port), storeDir: server.storeDir });
  await expect.poll(() => lease.lost.aborted).toBe(false);

  expect(lease.identity.incarnation).not.toBe(incarnation);
  expect((await ownership.claim('kept'))?.token).toBeGreaterThan(claim?.token ?? Number.POSITIVE_INFINITY);
  await lease.release();
  await connection.nats.close();
  await back.stop();
});
