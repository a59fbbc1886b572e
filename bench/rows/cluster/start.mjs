import { onCluster } from '../../support/cluster/cluster.mjs';
import { cpuMicros, residentMb } from '../../support/process-stats.mjs';

/** From spawn to the first line of a server, printed when it accepts clients. */
export const clusterStart = onCluster({
  name: 'cluster-start',
  rounds: 9,

  samplers(workspace, cluster) {
    const script = workspace.file('cluster-start.jsonl', '{"text":"ok"}\n');
    return {
      single: async () => started(await cluster.startSingle({ script })),
      node: async () => started(await cluster.startNode({ script })),
    };
  },

  rows({ single, node }) {
    const row = (what, unit, key) => ({ what, unit, value: node[key], reference: single[key] });
    return [
      { ...row('first line', 'ms', 'ms'), limit: { ratio: 2.5 } },
      row('CPU until then', 'ms', 'cpu'),
      { ...row('resident then', 'MB', 'mb'), limit: { ratio: 1.4 } },
    ];
  },
});

async function started({ pid, startMs, stop }) {
  const sample = { ms: startMs, cpu: cpuMicros(pid) / 1000, mb: residentMb(pid) };
  await stop();
  return sample;
}
