import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ClusterIndex } from '../../../src/server/cluster/cluster-index.ts';
import { ClusterLibrary } from '../../../src/server/cluster/cluster-library.ts';
import { ClusterStorage } from '../../../src/server/cluster/cluster-storage.ts';
import { LogOwnership } from '../../../src/server/cluster/log/log-ownership.ts';
import { ReplicaFiles } from '../../../src/server/cluster/log/replica-file.ts';
import { NodeDirectory } from '../../../src/server/cluster/nodes/node-directory.ts';
import { NodeLease } from '../../../src/server/cluster/nodes/node-lease.ts';
import { connectNodes } from '../../../src/server/cluster/open-cluster.ts';
import { LocalSessions } from '../../../src/server/hosting/local-sessions.ts';
import { TEST_FACTS, type TestCluster } from './test-cluster.ts';

const TAU = join(import.meta.dirname, '../../../dist/tau.cjs');

let nodes = 0;

// All nodes share the folders of the tests.
const shared = [tmpdir()];

/** A node of the cluster with files of its own, in a workspace that all nodes share. */
export async function newNode(cluster: TestCluster) {
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
  const times = { renewMs: 100, stopMs: 15_000, silenceMs: 200 };
  const lease = await NodeLease.take(connection, {
    name: `node-${++nodes}`,
    facts: () => ({ ...TEST_FACTS, shared }),
    times,
  });
  const files = new ReplicaFiles(join(root, 'agent', 'server', 'cluster', 'sessions'));
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const ownership = new LogOwnership(connection, lease);
  const index = await ClusterIndex.open(connection, onError);
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
  const { sessions: all, end } = connectNodes({
    cluster: connection,
    lease,
    ownership,
    directory: await NodeDirectory.open(connection, onError),
    index,
    local: sessions,
    shared,
    newExportPath: () => join(root, 'export.html'),
    onError,
  });
  onTestFinished(end);
  const library = new ClusterLibrary({ ownership, files, index });
  return { sessions, all, library, connection, lease, files, errors };
}

/** A folder that all nodes share. */
export function newWorkspace(): string {
  const cwd = join(mkdtempSync(join(tmpdir(), 'tau-work-')), 'project');
  mkdirSync(cwd);
  return cwd;
}
