import type { Fault, Random } from '../faults/faults.ts';
import type { DisturbedNode } from './disturbed-node.ts';
import type { NatsCluster } from './nats-cluster.ts';

/** Faults of the nodes; some last longer than their lease. */
export function nodeFaults(nodes: readonly DisturbedNode[], keyLifeMs: number): Fault[] {
  const anyNode = (random: Random) => nodes[random(nodes.length)] as DisturbedNode;
  const pause = (random: Random) => elapsed(200 + random(1.5 * keyLifeMs));
  return [
    { name: 'kill a server', weight: 4, inject: (random) => anyNode(random).restart() },
    { name: 'kill agents', weight: 3, inject: (random) => anyNode(random).killAgents() },
    { name: 'stop a node', weight: 4, inject: (random) => anyNode(random).pause(pause(random)) },
    { name: 'cut a node off', weight: 4, inject: (random) => anyNode(random).cutOff(pause(random)) },
    { name: 'drain a server', weight: 3, inject: (random) => anyNode(random).drain() },
  ];
}

// A server may need longer than this to have all records again: then the next fault finds it behind the others.
const CATCH_UP_MS = 20_000;

/** Faults of the NATS servers; after each of them all run again and have a leader. */
export function serverFaults(cluster: NatsCluster): Fault[] {
  const restart = async (members: NatsCluster['members'], signal: NodeJS.Signals) => {
    await Promise.all(members.map((member) => member.end(signal)));
    await cluster.startAll();
    await cluster.leader();
    await cluster.whenCurrent(CATCH_UP_MS).catch((error: Error) => process.stderr.write(`${error.message}\n`));
  };
  return [
    { name: 'kill the leader', weight: 1, inject: async () => restart([await cluster.leader()], 'SIGKILL') },
    {
      name: 'end a NATS server',
      weight: 2,
      inject: (random) => restart(cluster.members.slice(random(3)).slice(0, 1), 'SIGTERM'),
    },
    { name: 'kill all NATS servers', weight: 1, inject: () => restart(cluster.members, 'SIGKILL') },
  ];
}

const elapsed = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
