import { onCluster } from '../../support/cluster/cluster.mjs';
import { reconnectingClient } from '../../support/cluster/reconnecting-client.mjs';

const KILLS = 2;
const RUNS = 3;
/** Tool calls of a run: it outlasts an election. */
const CALLS = 100;
const CALL_MS = 100;
/** Records before the kill. */
const WARM_UP = 50;

/** Runs while the leader of the logs is killed. Only several servers have a leader to lose. */
export const clusterElection = onCluster({
  name: 'cluster-election',
  rounds: 1,
  warmUpRounds: 0,

  async samplers(workspace, cluster) {
    workspace.file('project/notes.txt', 'a line of the notes\n');
    const toolCall = { name: 'read', arguments: { path: 'notes.txt' } };
    const call = `${JSON.stringify({ steps: [{ delayMs: CALL_MS }, { toolCall }] })}\n`;
    const script = workspace.file('cluster-election.jsonl', `${call.repeat(CALLS)}{"text":"ok"}\n{"repeat":true}\n`);
    const node = await cluster.startNode({ script });
    return { node: () => elections(workspace, cluster, node) };
  },

  rows({ node }) {
    return [
      { what: 'leader killed: longest silence of a run', unit: 'ms', value: node.silence, limit: { value: 12_000 } },
      { what: 'runs interrupted', unit: '', value: node.interrupted, limit: { value: 0 } },
    ];
  },
});

async function elections(workspace, { nats }, node) {
  const ends = [];
  for (let n = 0; n < KILLS; n++) {
    const runs = await Promise.all(Array.from({ length: RUNS }, () => startRun(workspace, node)));
    const restart = await nats.killLeader();
    ends.push(...(await Promise.all(runs.map((run) => run.end()))));
    await restart();
  }
  return {
    silence: Math.max(...ends.map(({ silence }) => silence)),
    interrupted: ends.filter(({ isComplete }) => !isComplete).length,
  };
}

/** Starts a run in a new session. */
async function startRun(workspace, node) {
  const client = await reconnectingClient(workspace, node);
  await client.until('state_synced');
  const settled = client.until('agent_settled');
  await client.call('prompt', { message: 'go' });
  while (client.received.length < WARM_UP) await client.until('message_end');
  return {
    end: async () => {
      await settled;
      const times = client.received.map(({ at }) => at);
      const silence = Math.max(...times.slice(1).map((at, n) => at - times[n]));
      const { outcome } = client.received.findLast(({ event }) => event.type === 'agent_settled').event;
      client.close();
      return { silence, isComplete: outcome === 'ok' };
    },
  };
}
