import { onCluster } from '../../support/cluster/cluster.mjs';
import { percentile } from '../../support/median.mjs';
import { DELTA } from '../../support/stream.mjs';

const SESSIONS = 50;
const DELTAS = 150;
const SPACING_MS = 20;
/** Deltas to skip: a fresh agent is slow at first. */
const WARM_UP = 25;

/** Fifty sessions stream at the same time to clients of another node. */
export const clusterMany = onCluster({
  name: 'cluster-many',
  rounds: 2,
  warmUpRounds: 0,

  async samplers(workspace, cluster) {
    const answer = { text: DELTA, times: DELTAS, delayMs: SPACING_MS };
    const script = workspace.file('cluster-many.jsonl', `${JSON.stringify(answer)}\n`);
    const args = ['--max-sessions', '60', '--park-after', '0'];
    const single = await cluster.startSingle({ script, args });
    const owner = await cluster.startNode({ script, args });
    const other = await cluster.startNode({ script, args });
    return { single: () => served(single, single), other: () => served(owner, other) };
  },

  rows({ single, other }) {
    const what = 'time between two deltas through another node, p99';
    return [{ what, unit: 'ms', value: other.ms, reference: single.ms, limit: { ratio: 1.5 } }];
  },
});

async function served(owner, entry) {
  const clients = [];
  for (let session = 0; session < SESSIONS; session++) {
    const first = await owner.connect();
    clients.push(owner === entry ? first : await entry.connect({ session: first.sessionId }));
    if (owner !== entry) first.close();
  }
  const settled = clients.map((client) => client.until('"type":"agent_settled"'));
  for (const client of clients) client.send({ type: 'prompt', message: 'go' });
  await Promise.all(settled);
  for (const client of clients) client.close();
  const gaps = clients.flatMap(({ times }) => times.slice(WARM_UP).map((at, n) => at - times[WARM_UP + n - 1]));
  return { ms: percentile(gaps, 0.99) };
}
