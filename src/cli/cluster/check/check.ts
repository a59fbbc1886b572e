import { problem } from '../../../engine/diagnosis/finding.ts';
import type { Finding } from '../../../protocol/generated/vocabulary.ts';
import {
  type ClusterAddress,
  type ClusterConnection,
  clusterErrorText,
  connectCluster,
} from '../../../server/cluster/connection.ts';
import { checkAppends } from './appends.ts';
import { checkMonitors } from './monitors.ts';
import { checkServers, warningAbout } from './servers.ts';
import { checkStreams } from './streams.ts';

interface CheckOptions {
  readonly address: ClusterAddress;
  readonly replicas: number;
  /** The monitoring addresses of the servers. */
  readonly monitors: readonly string[];
}

/** The findings about everything on which the promises of a cluster depend. */
export async function checkCluster({ address, replicas, monitors }: CheckOptions): Promise<Finding[]> {
  const { findings, names, working, failed } = await checkServers(address);
  if (working.length === 0) return [...findings];
  const connection = await connectCluster({ ...address, servers: working }, 0);
  try {
    const streams = await checkStores(connection, replicas);
    const members = new Set([...names, ...streams.peers]);
    const areNamed = members.size - names.size <= failed;
    const advice = areNamed ? 'start them, or correct their addresses' : 'name their addresses too';
    return [
      ...findings,
      ...warningAbout(members, names, { check: 'servers', advice }),
      ...streams.findings,
      ...(streams.hasLog ? [await checkAppends(connection)] : []),
      ...(await checkMonitors(monitors, members)),
    ];
  } finally {
    await connection.nats.close();
  }
}

async function checkStores(connection: ClusterConnection, replicas: number): ReturnType<typeof checkStreams> {
  try {
    return await checkStreams(connection, replicas);
  } catch (error) {
    return { findings: [problem('streams', clusterErrorText(error))], peers: [], hasLog: false };
  }
}
