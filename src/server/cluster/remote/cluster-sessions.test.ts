import { expect, it } from 'vitest';
import { testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { newNode, newWorkspace } from '../../../../test/support/cluster/test-node.ts';
import { newUuid } from '../../../store/sessions/random-id.ts';
import { RecordingSubscriber, sendRequest, storedTargetOf } from '../../hosting/testing/recording-subscriber.ts';
import { sessionsContract } from '../../hosting/testing/sessions-contract.ts';
import type { Sessions, SessionTarget } from '../../sessions.ts';

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
    fetch: (target) => other.all.fetch(target),
    adopt: (target) => other.all.adopt(target),
    statusOf: (id) => owner.all.statusOf(id),
    fileOf: (id) => owner.all.fileOf(id),
    folderOf: (id) => owner.all.folderOf(id),
    request: (target, request) => other.all.request(target, request),
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
