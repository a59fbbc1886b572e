import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { testCluster } from '../../../test/support/cluster/test-cluster.ts';
import { newNode, newWorkspace } from '../../../test/support/cluster/test-node.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { LocalSessions } from '../hosting/local-sessions.ts';
import { RecordingSubscriber, sendRequest, storedTargetOf } from '../hosting/testing/recording-subscriber.ts';
import { sessionsContract } from '../hosting/testing/sessions-contract.ts';
import type { SessionHandle, SessionTarget } from '../sessions.ts';
import { FencedLog } from './log/fenced-log.ts';
import { RecordJoiner } from './log/log-record.ts';

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
    storedTarget: storedTargetOf,
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

/** The lines of all entries in the log of a session. */
async function linesInLog(id: string): Promise<string[]> {
  const log = new FencedLog(cluster.connection, id, { name: 'audit', incarnation: '1' });
  const joiner = new RecordJoiner();
  let text = '';
  for await (const message of log.read(0, (await log.readLast())?.seq ?? 0)) {
    const record = joiner.add(message);
    if (record?.kind === 'entries') text += new TextDecoder().decode(record.data);
  }
  return text.split('\n').filter((line) => line !== '');
}

it('[W142] after the crash of an agent the log holds every entry once, and the file equals it', async () => {
  const cwd = newWorkspace();
  const { sessions, files, errors } = await newNode(cluster);
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const { handle, subscriber } = await attach(sessions, target);
  await prompt(handle, 'hello');
  await subscriber.waitForEvent('agent_settled');
  const { pid = 0 } = sessions.find(target.id) ?? {};
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => sessions.find(target.id)?.pid).not.toBe(pid);
  await prompt(handle, 'hello again');
  await expect.poll(() => subscriber.events.filter(({ type }) => type === 'agent_settled')).toHaveLength(2);
  await handle.close();
  await sessions.close();

  const lines = await linesInLog(target.id);
  expect(new Set(lines).size).toBe(lines.length);
  expect(readFileSync(files.find(target.id) ?? '', 'utf8')).toBe(`${lines.join('\n')}\n`);
  expect(errors).toEqual([]);
});

it('[W147] a session in the trash, or of another folder, is not opened as a new one', async () => {
  const cwd = newWorkspace();
  const { sessions, library } = await newNode(cluster);
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const { handle, subscriber } = await attach(sessions, target);
  await prompt(handle, 'hello');
  await subscriber.waitForEvent('agent_settled');
  await handle.close();
  await sessions.release(target);

  const elsewhere = { ...target, cwd: newWorkspace() };
  await expect(sessions.open(elsewhere, new RecordingSubscriber())).rejects.toThrow('Session not found');
  await library.trash(target);
  await expect(sessions.open(target, new RecordingSubscriber())).rejects.toThrow('Session not found');
  await library.restore(target);
  expect((await attach(sessions, target)).subscriber.snapshots).toHaveLength(1);
});

it('[W143] ids that end alike have files of their own', async () => {
  const cwd = newWorkspace();
  const { sessions, files } = await newNode(cluster);
  const id = newUuid();
  for (const one of [`x_${id}`, id]) {
    const { handle, subscriber } = await attach(sessions, { kind: 'new', id: one, cwd });
    await prompt(handle, 'hello');
    await subscriber.waitForEvent('agent_settled');
  }

  expect(files.find(id)).not.toBe(files.find(`x_${id}`));
});
