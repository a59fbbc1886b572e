import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { onCluster } from '../../support/cluster/cluster.mjs';
import { streamScript } from '../../support/stream.mjs';

const WARM_UP = 20;
const SESSIONS = 60;
const POLL_MS = 10;

/** Sessions that were used once and whose agents are parked: the heap that remains after garbage collection. */
export const clusterParked = onCluster({
  name: 'cluster-parked',
  rounds: 1,
  warmUpRounds: 0,

  samplers(workspace, cluster) {
    const script = workspace.file('cluster-parked.jsonl', streamScript(50));
    const report = workspace.path('heap');
    const preload = workspace.file('report-heap.cjs', reportHeap(report));
    const options = { script, args: ['--park-after', '0'], node: ['--expose-gc', '--require', preload] };
    return {
      single: async () => parked(await cluster.startSingle(options), report),
      node: async () => parked(await cluster.startNode(options), report),
    };
  },

  rows({ single, node }) {
    const what = 'heap of the server for one';
    return [{ what, unit: 'KB', value: node.kb, reference: single.kb, limit: { ratio: 1.2 } }];
  },
});

/** Code that writes the size of the heap to a file at a signal. */
const reportHeap = (file) => `
const { renameSync, writeFileSync } = require('node:fs');
process.on('SIGUSR2', () => {
  gc();
  const file = ${JSON.stringify(file)};
  writeFileSync(file + '.new', String(process.memoryUsage().heapUsed));
  renameSync(file + '.new', file);
});`;

async function parked({ pid, connect, stop }, report) {
  await use(connect, WARM_UP);
  const before = await heapBytes(pid, report);
  await use(connect, SESSIONS);
  const kb = ((await heapBytes(pid, report)) - before) / 1000 / SESSIONS;
  await stop();
  return { kb };
}

/** The heap once it has stopped shrinking: the last agents end meanwhile. */
async function heapBytes(pid, report) {
  for (let smallest = Number.POSITIVE_INFINITY; ; ) {
    rmSync(report, { force: true });
    process.kill(pid, 'SIGUSR2');
    while (!existsSync(report)) await sleep(POLL_MS);
    const bytes = Number(readFileSync(report, 'utf8'));
    if (bytes > smallest * 0.999) return smallest;
    smallest = bytes;
    await sleep(1000);
  }
}

async function use(connect, count) {
  for (let session = 0; session < count; session++) {
    const client = await connect();
    const settled = client.until('"type":"agent_settled"');
    client.send({ type: 'prompt', message: 'go' });
    await settled;
    client.close();
  }
}
