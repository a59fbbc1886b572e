import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { onCluster } from '../../support/cluster/cluster.mjs';
import { writeLongSession } from '../../support/long-session.mjs';
import { residentMb } from '../../support/process-stats.mjs';

const SESSIONS = 1000;
const MANY = 50_000;
/** About one megabyte. */
const MESSAGES = 1380;
const PUTS_AT_ONCE = 500;

/** Lists a thousand sessions of a cluster, compared with a thousand files of a megabyte. */
export const clusterList = onCluster({
  name: 'cluster-list',
  rounds: 3,
  warmUpRounds: 0,

  async samplers(workspace, cluster) {
    const script = workspace.file('cluster-list.jsonl', '{"text":"ok"}\n');
    await fillIndex(cluster, workspace, SESSIONS);
    return {
      single: async () => {
        const server = await cluster.startSingle({ script });
        const folder = join(server.agentDir, 'sessions');
        writeSessions(join(folder, '--listed--'), workspace);
        const sample = await listed(server, {});
        rmSync(folder, { recursive: true });
        return sample;
      },
      node: async () => listed(await cluster.startNode({ script }), {}),
    };
  },

  rows({ single, node }) {
    const row = (what, value, reference, ratio) => ({ what, unit: 'ms', value, reference, limit: { ratio } });
    return [
      row('1,000 sessions, first', node.first, single.first, 0.05),
      row('1,000 sessions, again', node.again, single.again, 1),
    ];
  },
});

/** Lists the newest of fifty thousand sessions. */
export const clusterListMany = onCluster({
  name: 'cluster-list-many',
  rounds: 3,
  warmUpRounds: 0,

  async samplers(workspace, cluster) {
    const script = workspace.file('cluster-list.jsonl', '{"text":"ok"}\n');
    const empty = await cluster.startNode({ script });
    const emptyMb = residentMb(empty.pid);
    await empty.stop();
    await fillIndex(cluster, workspace, MANY);
    return {
      node: async () => {
        const { mb, ...sample } = await listed(await cluster.startNode({ script }), { limit: 50 });
        return { ...sample, mb: mb - emptyMb };
      },
    };
  },

  rows({ node }) {
    return [
      { what: 'the newest 50 of 50,000, first', unit: 'ms', value: node.first, limit: { value: 20 } },
      { what: 'the newest 50 of 50,000, again', unit: 'ms', value: node.again, limit: { value: 20 } },
      { what: 'memory with them over ready with none', unit: 'MB', value: node.mb, limit: { value: 60 } },
      { what: 'first line of the node with them', unit: 'ms', value: node.startMs },
    ];
  },
});

async function listed({ pid, startMs, connect, stop }, params) {
  const client = await connect();
  const timeList = async () => {
    const sent = performance.now();
    return (await client.request({ type: 'list_sessions', ...params })) - sent;
  };
  const first = await timeList();
  const again = await timeList();
  client.close();
  const mb = residentMb(pid);
  await stop();
  return { first, again, mb, startMs };
}

function writeSessions(folder, workspace) {
  mkdirSync(folder, { recursive: true });
  const first = join(folder, '0.jsonl');
  writeLongSession(first, { cwd: workspace.path('project'), messages: MESSAGES });
  for (let n = 1; n < SESSIONS; n++) copyFileSync(first, join(folder, `${n}.jsonl`));
}

/** Puts sessions into the index of a cluster as nodes do. */
async function fillIndex({ nats }, workspace, count) {
  const index = await new Kvm(jetstream(await nats.connection())).open('tau_index');
  const cwd = workspace.path('project');
  for (let from = 0; from < count; from += PUTS_AT_ONCE) {
    const some = Array.from({ length: PUTS_AT_ONCE }, (_, n) => summary(from + n, cwd));
    await Promise.all(some.map((session) => index.put(session.id, JSON.stringify(session))));
  }
}

function summary(n, cwd) {
  const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
  const lastModified = new Date(1_794_731_994_206 + 1000 * n).toISOString();
  const path = `${lastModified.replaceAll(/[:.]/g, '-')}_${id}.jsonl`;
  const firstMessage = `Look at file ${n} and tell me what the next line means`;
  return { path, id, firstMessage, messageCount: 12, lastModified, cwd, cost: 0.1, tokens: 12_600, node: 'node-1' };
}
