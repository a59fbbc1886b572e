import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testCluster } from '../../../test/support/cluster/test-cluster.ts';
import { newNode, newWorkspace } from '../../../test/support/cluster/test-node.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { LocalSessions } from '../hosting/local-sessions.ts';
import { RecordingSubscriber, sendRequest } from '../hosting/testing/recording-subscriber.ts';
import { sessionsContract } from '../hosting/testing/sessions-contract.ts';
import type { SessionHandle, SessionTarget } from '../sessions.ts';

const cluster = testCluster();
async function attach(sessions: LocalSessions, target: SessionTarget) {
  const subscriber = new RecordingSubscriber();
  const handle = await sessions.open(target, subscriber);
  await handle.attach({});
  return { handle, subscriber };
}

const prompt = (handle: SessionHandle, message: string) => sendRequest(handle, { type: 'prompt', message });

const textsIn = (subscriber: RecordingSubscriber) => subscriber.snapshots.at(-1)?.messages;

sessionsContract('the sessions of a node in a cluster', async () => {
  const cwd = newWorkspace();
  const { sessions } = await newNode(cluster);
  return {
    sessions,
    newTarget: (): SessionTarget => ({ kind: 'new', id: newUuid(), cwd }),
    storedTarget: async (handle: SessionHandle): Promise<SessionTarget> => {
      const { data } = await sendRequest(handle, { type: 'get_state' });
      const { sessionFile: path, sessionId: id } = data as { sessionFile: string; sessionId: string };
      return { kind: 'stored', path, id, cwd };
    },
    kill: (sessionId) => void process.kill(sessions.find(sessionId)?.pid ?? Number.NaN, 'SIGKILL'),
  };
});

it('[W143] a session that one node has closed continues on another, with the same file to the byte', async () => {
  const cwd = newWorkspace();
  const [a, b] = [await newNode(cluster), await newNode(cluster)];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const first = await attach(a.sessions, target);
  await prompt(first.handle, 'hello \u2028 there');
  await first.subscriber.waitForEvent('agent_settled');
  await a.sessions.close();

  const second = await attach(b.sessions, target);
  expect(textsIn(second.subscriber)).toContain('hello \\u2028 there');
  const fileOf = ({ files }: typeof a) => readFileSync(files.find(target.id) ?? '', 'utf8');
  expect(fileOf(b)).toBe(fileOf(a));
  await prompt(second.handle, 'hello again');
  await second.subscriber.waitForEvent('agent_settled');
  await b.sessions.close();

  // Back on the first node, only what is newer is read.
  const c = { ...(await newNode(cluster)), files: a.files };
  expect(fileOf(b).startsWith(fileOf(c))).toBe(true);
  expect([...a.errors, ...b.errors]).toEqual([]);
});

it('[W148] a session without messages leaves nothing in the log', async () => {
  const cwd = newWorkspace();
  const a = await newNode(cluster);
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  await attach(a.sessions, target);
  await a.sessions.close();

  const info = await cluster.connection.manager.streams.info('TAU', { subjects_filter: `tau.log.*.${target.id}` });
  expect(info.state.subjects ?? {}).toEqual({});
});

it('[W143 W144] the owner that lost its session kills its agent and lets its clients reconnect; the next one ends the run once', async () => {
  const cwd = newWorkspace();
  const [a, b] = [await newNode(cluster), await newNode(cluster)];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const first = await attach(a.sessions, target);
  const { data } = await prompt(first.handle, 'work');
  const { runId } = data as { runId: string };
  await first.subscriber.waitForEvent('tool_execution_start');
  const pid = a.sessions.find(target.id)?.pid ?? 0;
  const cursor = first.subscriber.cursor;
  await a.connection.nats.close();

  const subscriber = new RecordingSubscriber();
  const handle = await b.sessions.open(target, subscriber);
  await handle.attach({ cursor });

  expect(subscriber.attachResults.at(-1)).toMatchObject({ resume: 'gap' });
  const ends = subscriber.events.filter(({ type }) => type === 'agent_settled');
  expect(ends).toMatchObject([{ runId, outcome: 'error', errorCode: 'interrupted' }]);
  expect(textsIn(subscriber)).toContain('"isError":true');
  await expect.poll(() => first.subscriber.losses).toEqual(['The session moved']);
  await expect.poll(() => isAlive(pid)).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
