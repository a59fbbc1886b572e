import { Kvm } from '@nats-io/kv';
import { headers } from '@nats-io/transport-node';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { startNatsServer } from '../../../../test/support/cluster/nats-server.ts';
import { testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { connectCluster } from '../connection.ts';
import { AUTH_BUCKET, bucketStream } from '../names.ts';
import { createBuckets } from '../setup.ts';
import { WatchedBucket } from './watched-bucket.ts';

const cluster = testCluster();
const STREAM = bucketStream(AUTH_BUCKET);

// The copy is late at two checks before it is read anew.
const RECOVERED = { timeout: 20_000 };

afterEach(() => void vi.useRealTimers());

async function openBucket() {
  const connection = await cluster.connect();
  const bucket = await WatchedBucket.open(connection, AUTH_BUCKET);
  onTestFinished(() => bucket.close());
  return bucket;
}

const kv = () => new Kvm(cluster.connection.js).open(AUTH_BUCKET);

it('[W153] a change behind a revision that has passed is refused, also after a removal', async () => {
  const [a, b] = [await openBucket(), await openBucket()];
  expect(await a.put('token.a', { name: 'one' }, 0)).toBe(true);
  await b.until(() => b.get('token.a') !== undefined);
  const { revision = 0, value } = b.get('token.a') ?? {};

  expect(value).toEqual({ name: 'one' });
  expect(await a.put('token.a', { name: 'two' }, revision)).toBe(true);
  expect(await b.put('token.a', { name: 'three' }, revision)).toBe(false);
  expect(await b.remove('token.a', revision)).toBe(false);
  expect(await b.remove('token.a')).toBe(true);
  expect(await a.put('token.a', { name: 'four' }, revision + 1)).toBe(false);
  await a.until(() => a.get('token.a') === undefined);
  expect(await a.removedAt('token.a')).toEqual(expect.any(Number));
  expect([a.get('token.a'), await a.removedAt('token.none')]).toEqual([undefined, undefined]);
});

it('[W153] a copy whose watch has ended on the server is right again', async () => {
  const bucket = await openBucket();
  const { manager } = cluster.connection;
  await bucket.put('token.b', { name: 'one' }, 0);
  await bucket.until(() => bucket.get('token.b') !== undefined);

  for await (const { name } of manager.consumers.list(STREAM)) await manager.consumers.delete(STREAM, name);
  await (await kv()).delete('token.b');
  await (await kv()).put('token.c', '{"name":"two"}');

  await vi.waitFor(() => expect(bucket.get('token.c')?.value).toEqual({ name: 'two' }), RECOVERED);
  expect(bucket.get('token.b')).toBeUndefined();
});

it('[W153] a copy of a bucket that was set back is right again', async () => {
  const server = await startNatsServer();
  const connection = await connectCluster({ servers: [server.url], name: 'test' });
  onTestFinished(async () => {
    await connection.nats.close();
    await server.stop();
  });
  await createBuckets(connection, { replicas: 1 });
  const bucket = await WatchedBucket.open(connection, AUTH_BUCKET);
  onTestFinished(() => bucket.close());
  await bucket.put('token.old', {}, 0);
  await bucket.until(() => bucket.get('token.old') !== undefined);

  await connection.manager.streams.delete(STREAM);
  await createBuckets(connection, { replicas: 1 });

  await vi.waitFor(() => expect(bucket.get('token.old')).toBeUndefined(), RECOVERED);
});

it('marks of keys that were removed long ago are deleted, and nothing else', async () => {
  const { streams } = cluster.connection.manager;
  await streams.purge(STREAM);
  const bucket = await kv();
  for (const name of ['token.a', 'token.b', 'code.c']) await bucket.put(name, '{}');
  for (const name of ['token.a', 'code.c']) await bucket.delete(name);
  // A server accepts it, and as a filter it would name all keys.
  cluster.connection.nats.publish(`$KV.${AUTH_BUCKET}.>`, '', { headers: removal() });
  await cluster.connection.nats.flush();
  const countAfter = async () => {
    await (await openBucket()).purgeMarks();
    return (await streams.info(STREAM)).state.messages;
  };

  const soon = await countAfter();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 60 * 60_000 });
  const later = await countAfter();

  expect([soon, later]).toEqual([4, 2]);
  expect((await bucket.get('token.b'))?.operation).toBe('PUT');
});

function removal() {
  const head = headers();
  head.set('KV-Operation', 'DEL');
  return head;
}
