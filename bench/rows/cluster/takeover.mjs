import { onCluster } from '../../support/cluster/cluster.mjs';
import { reconnectingClient } from '../../support/cluster/reconnecting-client.mjs';
import { median, percentile } from '../../support/median.mjs';

const KILLS = 30;
const STOPS = 10;

/** The times until clients of another node, which connect again by themselves, have the session of a node that ends. */
export const clusterTakeover = onCluster({
  name: 'cluster-takeover',
  rounds: 1,
  warmUpRounds: 0,

  async samplers(workspace, cluster) {
    const script = workspace.file('cluster-takeover.jsonl', '{"text":"ok"}\n{"repeat":true}\n');
    const survivor = await cluster.startNode({ script });
    const move = (end) => moved(workspace, { cluster, script, survivor, end });
    return {
      killed: () => repeated(KILLS, () => move((owner) => owner.stop('SIGKILL'))),
      stopped: () => repeated(STOPS, () => move((owner) => owner.stop('SIGTERM'))),
      frozen: () => repeated(1, () => move((owner) => process.kill(owner.pid, 'SIGSTOP'))),
    };
  },

  rows({ killed, stopped, frozen }) {
    const row = (what, value, limit) => ({ what, unit: 'ms', value, limit: { value: limit } });
    const handover = { name: 'cluster-handover' };
    return [
      row('`kill -9` of the owner to state_synced elsewhere, p50', killed.p50, 5000),
      row('`kill -9` of the owner to state_synced elsewhere, p99', killed.p99, 6500),
      row('owner frozen, to state_synced elsewhere', frozen.p50, 25_000),
      { ...row('SIGTERM of an idle owner to state_synced elsewhere, p50', stopped.p50, 1000), ...handover },
      { ...row('SIGTERM of an idle owner to state_synced elsewhere, p99', stopped.p99, 2500), ...handover },
    ];
  },
});

async function repeated(count, sample) {
  const times = [];
  for (let n = 0; n < count; n++) times.push(await sample());
  return { p50: median(times), p99: percentile(times, 0.99) };
}

/** The time from the end of an owner to the snapshot at a client of the node that survives. */
async function moved(workspace, { cluster, script, survivor, end }) {
  const owner = await cluster.startNode({ script });
  const first = await owner.connect();
  const settled = first.until('"type":"agent_settled"');
  first.send({ type: 'prompt', message: 'go' });
  await settled;
  const client = await reconnectingClient(workspace, survivor, first.sessionId);
  await client.until('state_synced');
  const synced = client.until('state_synced');
  const begun = performance.now();
  const ended = end(owner);
  const ms = (await synced) - begun;
  await ended;
  client.close();
  first.close();
  await owner.stop('SIGKILL');
  return ms;
}
