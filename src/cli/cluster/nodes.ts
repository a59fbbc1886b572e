import { messageOf } from '../../protocol/errors.ts';
import {
  type ClusterAddress,
  type ClusterConnection,
  ClusterUnusable,
  connectCluster,
  untilAnswered,
} from '../../server/cluster/connection.ts';
import { bucketStream, NODES_BUCKET } from '../../server/cluster/names.ts';
import { type KnownNode, readNodes } from '../../server/cluster/nodes/node-directory.ts';
import { streamInfo } from '../../server/cluster/setup.ts';
import { terminalJson, warn } from '../../system/terminal-text.ts';
import { printAndExit } from '../stdio.ts';
import { textTable } from '../text-table.ts';
import { COMMAND_WAIT_MS } from './nats-flags.ts';

/** `tau cluster nodes`: lists the nodes whose keys have not expired, and warns about differences between them. */
export async function listNodes(address: ClusterAddress, { asJson }: { asJson: boolean }): Promise<number> {
  const connection = await connectCluster(address, COMMAND_WAIT_MS);
  try {
    const nodes = await sortedNodes(connection);
    for (const text of differences(nodes)) warn(text);
    if (asJson) return await printAndExit(nodes.map((node) => `${terminalJson(JSON.stringify(node))}\n`).join(''));
    return await printAndExit(nodes.length > 0 ? nodeTable(nodes) : 'No nodes.\n');
  } finally {
    await connection.nats.close();
  }
}

async function sortedNodes(connection: ClusterConnection): Promise<readonly KnownNode[]> {
  if (!(await untilAnswered(() => streamInfo(connection, bucketStream(NODES_BUCKET)))))
    throw new ClusterUnusable(`The bucket ${NODES_BUCKET} does not exist: create it with tau cluster init`);
  const all = await readNodes(connection, (error) => warn(messageOf(error)));
  return [...all].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Nodes that differ where all should be equal, as one sentence each. */
function differences(nodes: readonly KnownNode[]): readonly string[] {
  return [
    ...difference('protocol numbers', nodes, ({ protocol }) => String(protocol)),
    ...difference('settings or models', nodes, ({ settings }) => settings),
  ];
}

/** A node without the fact, such as an import, differs from none. */
function difference(what: string, nodes: readonly KnownNode[], factOf: (node: KnownNode) => string): readonly string[] {
  const groups = new Map<string, string[]>();
  for (const node of nodes) {
    const fact = factOf(node);
    if (fact !== '') groups.set(fact, [...(groups.get(fact) ?? []), node.name]);
  }
  if (groups.size < 2) return [];
  return [`The ${what} of the nodes differ: ${[...groups.values()].map((names) => names.join(', ')).join(' / ')}`];
}

const HEAD = ['NODE', 'INCARNATION', 'VERSION', 'PROTOCOL', 'AGENTS', 'ROOM', 'DRAINING', 'SETTINGS', 'SHARED'];

// The beginning of an incarnation is enough to compare it with the log of the node.
const INCARNATION_LENGTH = 8;

const nodeTable = (nodes: readonly KnownNode[]): string =>
  textTable(
    HEAD,
    nodes.map(({ name, incarnation, version, protocol, agents, hasRoom, isDraining, settings, shared = [] }) => [
      name,
      incarnation.slice(0, INCARNATION_LENGTH),
      version,
      String(protocol),
      String(agents),
      hasRoom ? 'yes' : 'no',
      isDraining ? 'yes' : 'no',
      settings,
      shared.join(' '),
    ]),
  );
