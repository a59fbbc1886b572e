import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TEST_FACTS, testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import type { StoredEntry } from '../../hosting/storage/journal.ts';
import { LOG_STREAM } from '../names.ts';
import { NodeLease } from '../nodes/node-lease.ts';
import { FencedLog } from './fenced-log.ts';
import { LogOwnership } from './log-ownership.ts';
import { NO_RUNS } from './log-runs.ts';
import { OwnedLog } from './owned-log.ts';
import { ReplicaFiles } from './replica-file.ts';

const cluster = testCluster();

let nodes = 0;

async function openLog(sessionId: string): Promise<OwnedLog> {
  const name = `node-${++nodes}`;
  const lease = await NodeLease.take(cluster.connection, { name, facts: () => TEST_FACTS });
  const ownership = new LogOwnership(cluster.connection, lease);
  const claim = await ownership.claim(sessionId);
  if (!claim) throw new Error('The session is owned');
  return new OwnedLog({
    ownership,
    claim,
    files: new ReplicaFiles(mkdtempSync(join(tmpdir(), 'owned-'))),
    replica: { path: undefined, bytes: 0, lastEntryId: undefined, marks: NO_RUNS },
    onKept: () => {},
    onChange: async () => {},
    onError: () => {},
  });
}

async function kindsInLog(sessionId: string): Promise<string[]> {
  const log = new FencedLog(cluster.connection, sessionId, { name: 'audit', incarnation: '1' });
  const kinds: string[] = [];
  for await (const { kind } of log.read(0, (await log.readLast())?.seq ?? 0)) kinds.push(kind);
  return kinds;
}

const header = (id: string) => ({ type: 'session', id }) as StoredEntry;
const message = { type: 'message', id: 'aaaaaaaa' } as StoredEntry;

it('[W148] the first content of a session stays in the log if it is in flight when the session is released', async () => {
  const log = await openLog('in-flight');

  const appended = log.append([header('in-flight'), message]);
  await log.release();

  await appended;
  expect(await kindsInLog('in-flight')).toEqual(['claim', 'entries', 'release']);
});

it('[W142] after the release of a session nothing more gets into its log', async () => {
  const log = await openLog('released');
  await log.append([header('released'), message]);
  await log.release();

  await expect(log.append([{ ...message, id: 'bbbbbbbb' } as StoredEntry])).rejects.toThrow('owned elsewhere');

  expect(await kindsInLog('released')).toEqual(['claim', 'entries', 'release']);
});

it('[W141] an owner that cannot store the begin of a run gives the session up, before a client gets a response', async () => {
  const { manager } = cluster.connection;
  const log = await openLog('full');
  const { config, state } = await manager.streams.info(LOG_STREAM);
  await manager.streams.update(LOG_STREAM, { max_bytes: state.bytes + 1 });

  log.runs.set('full', { running: { epoch: 'e', runId: 'r', clientMessageIds: [] }, ended: [] });
  let isLost: boolean | undefined;
  await log.pendingRuns?.then(() => {
    isLost = log.lost.aborted;
  });

  await manager.streams.update(LOG_STREAM, { max_bytes: config.max_bytes });
  expect(isLost).toBe(true);
});
