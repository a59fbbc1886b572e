import { onCluster } from '../../support/cluster/cluster.mjs';

const TURNS = 60;
const COLD = 20;

/** A prompt, a tool call, its result and the answer. */
export const clusterToolTurn = onCluster({
  name: 'cluster-tool-turn',
  rounds: 5,

  async samplers(workspace, cluster) {
    const script = (name, args) => {
      const call = JSON.stringify({ toolCall: { name, arguments: args } });
      return workspace.file(`cluster-${name}.jsonl`, `${call}\n{"text":"ok"}\n{"repeat":true}\n`);
    };
    workspace.file('project/notes.txt', 'a line of the notes\n'.repeat(50));
    const bash = script('bash', { command: 'true' });
    const read = script('read', { path: 'notes.txt' });
    const servers = {
      bash: await cluster.startNode({ script: bash }),
      read: await cluster.startNode({ script: read }),
      singleBash: await cluster.startSingle({ script: bash }),
      singleRead: await cluster.startSingle({ script: read }),
    };
    return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, () => turns(server)]));
  },

  rows({ bash, read, singleBash, singleRead }) {
    const row = (what, value, reference) => ({ what, unit: 'ms', value, reference, limit: { ratio: 1.5 } });
    return [
      row('`bash true`, on the owner', bash.ms, singleBash.ms),
      row('`read`, on the owner', read.ms, singleRead.ms),
    ];
  },
});

/** The mean of many turns after a warm-up. */
async function turns({ connect }) {
  const client = await connect();
  const turn = async () => {
    const settled = client.until('"type":"agent_settled"');
    client.send({ type: 'prompt', message: 'go' });
    await settled;
  };
  for (let n = 0; n < COLD; n++) await turn();
  const begun = performance.now();
  for (let n = 0; n < TURNS; n++) await turn();
  const ms = (performance.now() - begun) / TURNS;
  client.close();
  return { ms };
}
