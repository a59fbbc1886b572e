import { onCluster } from '../../support/cluster/cluster.mjs';
import { median } from '../../support/median.mjs';
import { streamScript } from '../../support/stream.mjs';

const ATTACHES = 20;

/** Attaches clients to a live session that has messages, and to new ones. */
export const clusterAttach = onCluster({
  name: 'cluster-attach',
  rounds: 5,

  async samplers(workspace, cluster) {
    const script = workspace.file('cluster-attach.jsonl', streamScript(200));
    const single = await cluster.startSingle({ script });
    const owner = await cluster.startNode({ script });
    const other = await cluster.startNode({ script });
    return {
      single: () => attached(single, single),
      owner: () => attached(owner, owner),
      other: () => attached(owner, other),
    };
  },

  rows({ single, owner, other }) {
    const row = (what, value, ratio) => ({ what, unit: 'ms', value, reference: single.ms, limit: { ratio } });
    return [
      row('to a live session, on the owner', owner.ms, 1.2),
      row('to a live session, through another node', other.ms, 2),
      {
        name: 'cluster-new',
        what: 'a new session, with the start of its agent',
        unit: 'ms',
        value: owner.newMs,
        reference: single.newMs,
        limit: { ratio: 1.25 },
      },
    ];
  },
});

async function attached(owner, entry) {
  const begun = performance.now();
  const first = await owner.connect();
  const newMs = performance.now() - begun;
  const settled = first.until('"type":"agent_settled"');
  first.send({ type: 'prompt', message: 'go' });
  await settled;
  const times = [];
  for (let n = 0; n < ATTACHES; n++) {
    const before = performance.now();
    const client = await entry.connect({ session: first.sessionId });
    times.push(performance.now() - before);
    client.close();
  }
  first.close();
  return { ms: median(times), newMs };
}
