import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RunJournal } from '../../store/run-journal.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import type { SessionTarget } from '../sessions.ts';
import { LocalSessions } from './local-sessions.ts';
import { LocalOwnership, type Ownership } from './storage/ownership.ts';
import { LocalStorage, type OwnedSession, type RunStore } from './storage/session-storage.ts';
import { RecordingSubscriber, sendRequest, storedTargetOf } from './testing/recording-subscriber.ts';
import { sessionsContract } from './testing/sessions-contract.ts';

const TAU = join(import.meta.dirname, '../../../dist/tau.cjs');

interface SessionsOptions {
  readonly maxHosts?: number;
  readonly ownership?: Ownership;
  readonly runs?: RunStore;
  /** Stands between the sessions and their storage. */
  readonly onOpen?: (open: () => Promise<OwnedSession | undefined>) => Promise<OwnedSession | undefined>;
}

/** Sessions of a machine, and the folder for them. */
function newSessions({ maxHosts = 10, onOpen = (open) => open(), ...stores }: SessionsOptions = {}) {
  const root = mkdtempSync(join(tmpdir(), 'tau-sessions-'));
  const cwd = join(root, 'project');
  mkdirSync(cwd);
  const script = join(root, 'script.jsonl');
  const modelTurns = [
    { text: 'hello', when: '^hello', keep: true },
    { steps: [{ text: 'Well, ' }, { stall: true }], when: '^wait', keep: true },
  ];
  writeFileSync(script, modelTurns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const { PATH = '' } = process.env;
  const { ownership = new LocalOwnership(), runs = new RunJournal(join(root, 'runs')) } = stores;
  const storage = new LocalStorage(ownership, runs);
  const sessions = new LocalSessions({
    agent: {
      command: process.execPath,
      args: [TAU, '--script', script],
      env: { PATH, HOME: root, PI_CODING_AGENT_DIR: join(root, 'agent') },
    },
    storage: {
      open: (target) => onOpen(() => storage.open(target)),
      fetch: (target) => storage.fetch(target),
      adopt: () => storage.adopt(),
    },
    parkAfterMs: 60_000,
    maxHosts,
    onActivity: () => {},
    onCrash: () => {},
    onStartFailure: () => {},
    onError: () => {},
  });
  onTestFinished(() => sessions.close());
  return { sessions, newTarget: (): SessionTarget => ({ kind: 'new', id: newUuid(), cwd }) };
}

sessionsContract('the sessions of one machine', () => {
  const { sessions, newTarget } = newSessions();
  return {
    sessions,
    newTarget,
    storedTarget: storedTargetOf,
    kill: (sessionId) => void process.kill(sessions.find(sessionId)?.pid ?? Number.NaN, 'SIGKILL'),
  };
});

it('[W167] sessions that are opened at the same time do not exceed the limit, and end none that is opened', async () => {
  const gate = newSignal();
  const { sessions, newTarget } = newSessions({ maxHosts: 2, onOpen: (open) => gate.promise.then(open) });
  const open = () => sessions.open(newTarget(), new RecordingSubscriber());

  const opened = Promise.allSettled([open(), open(), open()]);
  gate.resolve();
  const results = await opened;

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(results[2]).toMatchObject({ reason: { code: 'overloaded' } });
  expect(sessions.hosts.size).toBe(2);
});

it('[W144] a session that is lost while it is opened gets no agent', async () => {
  const released: string[] = [];
  const { sessions, newTarget } = newSessions({
    ownership: {
      claim: async (id) => ({ token: 1, lost: AbortSignal.abort(), release: async () => void released.push(id) }),
    },
  });
  const target = newTarget();

  await expect(sessions.open(target, new RecordingSubscriber())).rejects.toThrow('The session was lost');

  expect(sessions.hosts.size).toBe(0);
  expect(released).toEqual([target.id]);
});

it('[W169] a session is handed over when its clients have the end of its run', async () => {
  const [stored, ended] = [newSignal(), newSignal()];
  let pending: Promise<void> | undefined;
  const runs: RunStore = {
    get: () => ({ ended: [] }),
    set: (_, { ended: ends }) => {
      if (ends.length === 0) return;
      pending = stored.promise;
      ended.resolve();
    },
    clear: () => {},
  };
  const { sessions, newTarget } = newSessions({
    runs,
    onOpen: async (open) => {
      const session = await open();
      return session && { ...session, pendingRuns: () => pending };
    },
  });
  const subscriber = new RecordingSubscriber();
  const handle = await sessions.open(newTarget(), subscriber);
  await handle.attach({});
  await sendRequest(handle, { type: 'prompt', message: 'hello' });
  await ended.promise;

  expect(await sessions.drain()).toBe(true);
  expect(subscriber.losses).toEqual([]);
  stored.resolve();
  await subscriber.waitForEvent('agent_settled');

  await expect.poll(() => sessions.drain()).toBe(false);
  expect(subscriber.losses).toEqual(['The session moved']);
});

/** A promise that the test resolves. */
function newSignal() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
