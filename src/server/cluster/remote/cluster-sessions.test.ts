import { Kvm } from '@nats-io/kv';
import { expect, it } from 'vitest';
import { TEST_FACTS, testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { newNode, newWorkspace } from '../../../../test/support/cluster/test-node.ts';
import { newUuid } from '../../../store/sessions/random-id.ts';
import { RecordingSubscriber, sendRequest, storedTargetOf } from '../../hosting/testing/recording-subscriber.ts';
import { sessionsContract } from '../../hosting/testing/sessions-contract.ts';
import type { Sessions, SessionTarget } from '../../sessions.ts';
import { NODES_BUCKET } from '../names.ts';

const cluster = testCluster();

sessionsContract('the sessions of another node', async () => {
  const cwd = newWorkspace();
  const [owner, other] = [await newNode(cluster), await newNode(cluster)];
  const sessions: Sessions = {
    open: async (target, subscriber) => {
      const first = await owner.all.open(target, new RecordingSubscriber());
      const handle = await other.all.open(target, subscriber);
      await first.close();
      return handle;
    },
    prewarm: (target, access) => other.all.prewarm(target, access),
    fetch: (target, handle) => other.all.fetch(target, handle),
    adopt: (target) => other.all.adopt(target),
    statusOf: (id) => owner.all.statusOf(id),
    fileOf: (id) => owner.all.fileOf(id),
    folderOf: (id) => owner.all.folderOf(id),
    request: (target, request, options) => other.all.request(target, request, options),
    release: (target, stop) => other.all.release(target, stop),
  };
  return {
    sessions,
    newTarget: (): SessionTarget => ({ kind: 'new', id: newUuid(), cwd }),
    storedTarget: storedTargetOf,
    kill: (sessionId) => void process.kill(owner.sessions.find(sessionId)?.pid ?? Number.NaN, 'SIGKILL'),
  };
});

it('[W145] messages larger than those of NATS arrive whole and in order', async () => {
  const cwd = newWorkspace();
  const [owner, other] = [await newNode(cluster), await newNode(cluster)];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const first = await owner.all.open(target, new RecordingSubscriber());
  await first.attach({});
  const long = `hello ${'x'.repeat(5_000_000)}`;
  const subscriber = new RecordingSubscriber();
  const handle = await other.all.open(target, subscriber);
  await handle.attach({});

  await sendRequest(handle, { type: 'prompt', message: long });
  await subscriber.waitForEvent('agent_settled');
  const again = new RecordingSubscriber();
  const later = await other.all.open(target, again);
  await later.attach({});

  expect(again.snapshots.at(-1)?.messages).toContain(long);
  expect([...owner.errors, ...other.errors]).toEqual([]);
});

it('[W145] the clients of a node that is gone leave the session of the other', async () => {
  const cwd = newWorkspace();
  const [owner, other] = [await newNode(cluster), await newNode(cluster)];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const first = await owner.all.open(target, new RecordingSubscriber());
  await first.attach({});
  const handle = await other.all.open(target, new RecordingSubscriber());
  await handle.attach({});
  await first.close();
  expect(owner.sessions.find(target.id)?.clientCount).toBe(1);

  await other.connection.nats.close();

  await expect.poll(() => owner.sessions.find(target.id)?.clientCount).toBe(0);
});

it('a client that closes while it attaches leaves the session of the other node', async () => {
  const cwd = newWorkspace();
  const [owner, other] = [await newNode(cluster), await newNode(cluster)];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const first = await owner.all.open(target, new RecordingSubscriber());
  await first.attach({});
  const handle = await other.all.open(target, new RecordingSubscriber());

  const attached = handle.attach({}).then(
    () => 'attached',
    () => 'left',
  );
  await handle.close();

  expect(await attached).toBe('left');
  expect(owner.sessions.find(target.id)?.clientCount).toBe(1);
});

it('a session that is requested between two lives of a node is not waited for without end', async () => {
  const cwd = newWorkspace();
  const [owner, other] = [await newNode(cluster), await newNode(cluster)];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  await owner.all.open(target, new RecordingSubscriber());
  const { identity, lost } = other.lease;
  const ended = new Promise((resolve) => lost.addEventListener('abort', resolve));
  const bucket = await new Kvm(cluster.connection.js).open(NODES_BUCKET);
  await bucket.put(identity.name, JSON.stringify({ ...TEST_FACTS, incarnation: 'another' }));
  await ended;

  const opened = other.all.open(target, new RecordingSubscriber()).then(
    () => 'opened',
    () => 'refused',
  );

  expect(await opened).toMatch(/opened|refused/);
}, 20_000);
