import { onCluster } from '../../support/cluster/cluster.mjs';
import { median, percentile } from '../../support/median.mjs';

const PROMPTS = 200;
const COLD = 20;

/** From a prompt to its response and to `agent_settled`, with a model that responds at once. */
export const clusterPrompt = onCluster({
  name: 'cluster-prompt',
  rounds: 5,

  async samplers(workspace, cluster) {
    const script = workspace.file('cluster-prompt.jsonl', '{"text":"ok"}\n{"repeat":true}\n');
    const single = await cluster.startSingle({ script });
    const owner = await cluster.startNode({ script });
    const other = await cluster.startNode({ script });
    return {
      single: () => prompts(single, single),
      owner: () => prompts(owner, owner),
      other: () => prompts(owner, other),
    };
  },

  rows({ single, owner, other }) {
    const row = (what, key, { of, ratio }) => ({
      what,
      unit: 'ms',
      value: of[key],
      reference: single[key],
      limit: { ratio },
    });
    return [
      row('on the owner, p50', 'response', { of: owner, ratio: 1.8 }),
      row('on the owner, p99', 'slowResponse', { of: owner, ratio: 2.5 }),
      row('through another node, p50', 'response', { of: other, ratio: 2.5 }),
      row('through another node, p99', 'slowResponse', { of: other, ratio: 3.5 }),
      { ...row('on the owner, p50', 'settled', { of: owner, ratio: 2.5 }), name: 'cluster-settled' },
    ];
  },
});

/** Sends prompts one after another through `entry` to a new session of `owner`. */
async function prompts(owner, entry) {
  const first = await owner.connect();
  const client = owner === entry ? first : await entry.connect({ session: first.sessionId });
  const responses = [];
  const ends = [];
  for (let n = 0; n < COLD + PROMPTS; n++) {
    const settled = client.until('"type":"agent_settled"');
    const sent = performance.now();
    const respondedAt = await client.request({ type: 'prompt', message: 'go' });
    const settledAt = await settled;
    if (n < COLD) continue;
    responses.push(respondedAt - sent);
    ends.push(settledAt - sent);
  }
  for (const one of new Set([first, client])) one.close();
  return { response: median(responses), slowResponse: percentile(responses, 0.99), settled: median(ends) };
}
