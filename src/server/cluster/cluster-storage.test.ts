import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { testCluster } from '../../../test/support/cluster/test-cluster.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import { LocalSessions } from '../hosting/local-sessions.ts';
import { RecordingSubscriber, sendRequest } from '../hosting/testing/recording-subscriber.ts';
import { sessionsContract } from '../hosting/testing/sessions-contract.ts';
import type { SessionHandle, SessionTarget } from '../sessions.ts';
import { ClusterIndex } from './cluster-index.ts';
import { ClusterStorage } from './cluster-storage.ts';
import { LogOwnership } from './log-ownership.ts';
import { NodeLease } from './node-lease.ts';
import { ReplicaFiles } from './replica-file.ts';

const TAU = join(import.meta.dirname, '../../../dist/tau.cjs');

const cluster = testCluster();
let nodes = 0;

/** A node of the cluster with files of its own, in a workspace that all nodes share. */
async function newNode() {
  const root = mkdtempSync(join(tmpdir(), 'tau-node-'));
  const script = join(root, 'script.jsonl');
  const modelTurns = [
    { text: 'hello', when: '^hello', keep: true },
    { steps: [{ text: 'Well, ' }, { stall: true }], when: '^wait', keep: true },
    {
      steps: [{ toolCall: { name: 'bash', arguments: { command: 'sleep 60; touch done' } } }],
      when: '^work',
      keep: true,
    },
  ];
  writeFileSync(script, modelTurns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const { PATH = '' } = process.env;
  const connection = await cluster.connect();
  const times = { renewMs: 100, stopMs: 2000, silenceMs: 200 };
  const lease = await NodeLease.take(connection, { name: `node-${++nodes}`, version: 'test', times });
  const files = new ReplicaFiles(join(root, 'agent', 'server', 'cluster', 'sessions'));
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const ownership = new LogOwnership(connection, lease);
  const index = await ClusterIndex.open(connection);
  const storage = new ClusterStorage({ ownership, files, index, node: lease.identity.name, onError });
  const sessions = new LocalSessions({
    agent: {
      command: process.execPath,
      args: [TAU, '--script', script],
      env: { PATH, HOME: root, PI_CODING_AGENT_DIR: join(root, 'agent') },
    },
    storage,
    parkAfterMs: 60_000,
    maxHosts: 10,
    onActivity: () => {},
    onCrash: () => {},
    onStartFailure: () => {},
    onError,
  });
  onTestFinished(() => sessions.close());
  return { sessions, connection, files, errors };
}

function newWorkspace(): string {
  const cwd = join(mkdtempSync(join(tmpdir(), 'tau-work-')), 'project');
  mkdirSync(cwd);
  return cwd;
}

async function attach(sessions: LocalSessions, target: SessionTarget) {
  const subscriber = new RecordingSubscriber();
  const handle = await sessions.open(target, subscriber);
  await handle.attach({});
  return { handle, subscriber };
}

const say = (handle: SessionHandle, message: string) => sendRequest(handle, { type: 'prompt', message });

const textsIn = (subscriber: RecordingSubscriber) => subscriber.snapshots.at(-1)?.messages;

sessionsContract('the sessions of a node in a cluster', async () => {
  const cwd = newWorkspace();
  const { sessions } = await newNode();
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
  const [a, b] = [await newNode(), await newNode()];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const first = await attach(a.sessions, target);
  await say(first.handle, 'hello \u2028 there');
  await first.subscriber.waitForEvent('agent_settled');
  await a.sessions.close();

  const second = await attach(b.sessions, target);
  expect(textsIn(second.subscriber)).toContain('hello \\u2028 there');
  const fileOf = ({ files }: typeof a) => readFileSync(files.find(target.id) ?? '', 'utf8');
  expect(fileOf(b)).toBe(fileOf(a));
  await say(second.handle, 'hello again');
  await second.subscriber.waitForEvent('agent_settled');
  await b.sessions.close();

  // Back on the first node, only what is newer is read.
  const c = { ...(await newNode()), files: a.files };
  expect(fileOf(b).startsWith(fileOf(c))).toBe(true);
  expect([...a.errors, ...b.errors]).toEqual([]);
});

it('[W148] a session without messages leaves nothing in the log', async () => {
  const cwd = newWorkspace();
  const a = await newNode();
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  await attach(a.sessions, target);
  await a.sessions.close();

  const info = await cluster.connection.manager.streams.info('TAU', { subjects_filter: `tau.log.*.${target.id}` });
  expect(info.state.subjects ?? {}).toEqual({});
});

it('[W143 W144] the owner that lost its session kills its agent and lets its clients reconnect; the next one ends the run once', async () => {
  const cwd = newWorkspace();
  const [a, b] = [await newNode(), await newNode()];
  const target: SessionTarget = { kind: 'new', id: newUuid(), cwd };
  const first = await attach(a.sessions, target);
  const { data } = await say(first.handle, 'work');
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
