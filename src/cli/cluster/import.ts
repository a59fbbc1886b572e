import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import { version } from '../../protocol/generated/version.ts';
import {
  type ClusterAddress,
  type ClusterConnection,
  clusterErrorText,
  connectCluster,
  untilAnswered,
} from '../../server/cluster/connection.ts';
import { ImportIndex } from '../../server/cluster/import/import-index.ts';
import { type ImportOutcome, importSession } from '../../server/cluster/import/import-session.ts';
import { LogOwnership } from '../../server/cluster/log/log-ownership.ts';
import { CLUSTER_PROTOCOL } from '../../server/cluster/names.ts';
import { type KnownNode, readNodes } from '../../server/cluster/nodes/node-directory.ts';
import type { NodeFacts } from '../../server/cluster/nodes/node-facts.ts';
import { NodeLease } from '../../server/cluster/nodes/node-lease.ts';
import { hasFolder } from '../../server/cluster/nodes/placement.ts';
import { checkLogStream } from '../../server/cluster/setup.ts';
import { expandHome } from '../../store/agent-dir.ts';
import { headerOf } from '../../store/sessions/header.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import { sizeText } from '../../system/size-text.ts';
import { terminalText, warn } from '../../system/terminal-text.ts';
import { COMMAND_WAIT_MS } from './nats-flags.ts';

interface ImportOptions {
  readonly replicas: number;
  /** The node that has the folders of the sessions. */
  readonly node: string;
  /** Whether the command line names that node. */
  readonly isNodeGiven: boolean;
}

// Files above this size take long enough to report on.
const LONG_IMPORT_BYTES = 16 * 1024 * 1024;

const RESULTS: Readonly<Record<ImportOutcome, string>> = {
  imported: 'Imported',
  present: 'Was in the cluster already, now set aside',
  moved: 'Was in the cluster already, now of this --node',
  empty: 'Has no messages, left as it is',
};

// An import holds the sessions that it moves like a node, so that no node opens half of one. It serves none.
const IMPORT_FACTS: NodeFacts = {
  version,
  protocol: CLUSTER_PROTOCOL,
  shared: [],
  agents: 0,
  hasRoom: false,
  isDraining: true,
  statuses: {},
  settings: '',
};

/** `tau cluster import`: moves session files into the cluster. A failure is reported, and the other files follow. */
export async function importSessions(
  address: ClusterAddress,
  paths: readonly string[],
  options: ImportOptions,
): Promise<number> {
  const cluster = await connectCluster(address, COMMAND_WAIT_MS);
  try {
    await untilAnswered(() => checkLogStream(cluster, options.replicas));
    const nodes = (await readNodes(cluster, (error) => warn(messageOf(error)))).filter(isNode);
    const lease = await untilAnswered(() => NodeLease.take(cluster, { name: importName(), facts: () => IMPORT_FACTS }));
    try {
      return await importAll(paths, { ...options, cluster, lease, nodes });
    } finally {
      await lease.release();
    }
  } finally {
    await cluster.nats.close();
  }
}

const NAME_BEGIN = 'import-';

const importName = () => `${NAME_BEGIN}${newUuid().slice(-8)}`;

// A node may have such a name, too.
const isNode = ({ name, settings }: KnownNode) => !(name.startsWith(NAME_BEGIN) && settings === '');

interface RunningImport extends ImportOptions {
  readonly cluster: ClusterConnection;
  readonly lease: NodeLease;
  readonly nodes: readonly KnownNode[];
}

async function importAll(paths: readonly string[], running: RunningImport): Promise<number> {
  const { cluster, lease, nodes, node, isNodeGiven } = running;
  const parts = {
    cluster,
    identity: lease.identity,
    ownership: new LogOwnership(cluster, lease),
    index: await ImportIndex.open(cluster),
    node,
    movesPresent: isNodeGiven,
    isNodeKnown: nodes.length === 0 || nodes.some(({ name }) => name === node),
  };
  const folders = new Set<string>();
  let code = 0;
  for (const path of longestFirst(paths)) {
    const onProgress = (stored: number, total: number) => {
      if (total > LONG_IMPORT_BYTES) warn(`${path}: ${sizeText(stored)} of ${sizeText(total)}`);
    };
    const result = await importOne(path, (file) => importSession(file, { ...parts, onProgress }));
    if (!result) code = 1;
    else if (result.outcome !== 'empty') folders.add(result.cwd);
  }
  warnAboutFolders(folders, { nodes, home: node });
  return code;
}

const absolute = (path: string) => resolve(expandHome(path));

/**
 * Puts the copies of one session in order, the longest first, so that the log gets the longest; the sessions stay in the
 * order of their first copies.
 */
function longestFirst(paths: readonly string[]): readonly string[] {
  const copies = new Map<string, { path: string; size: number }[]>();
  for (const path of paths) {
    const file = absolute(path);
    const header = headerOf(file);
    // A file that is no session is reported in its turn.
    const key = typeof header === 'object' ? `session ${header.id}` : `file ${path}`;
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    copies.set(key, [...(copies.get(key) ?? []), { path, size }]);
  }
  return [...copies.values()].flatMap((same) =>
    same.sort((one, other) => other.size - one.size).map(({ path }) => path),
  );
}

/** Warns about each folder whose sessions no running node can open. */
function warnAboutFolders(
  folders: ReadonlySet<string>,
  { nodes, home }: { nodes: readonly KnownNode[]; home: string },
): void {
  for (const cwd of folders) {
    if (nodes.some((node) => hasFolder(node, { home, cwd }) || node.prepares)) continue;
    warn(`No running node is called ${home} or shares ${cwd}: its sessions can be opened when one does`);
  }
}

type ImportResult = Awaited<ReturnType<typeof importSession>>;

/** Imports a file and prints the result; undefined if that failed. */
async function importOne(
  path: string,
  run: (file: string) => Promise<ImportResult>,
): Promise<ImportResult | undefined> {
  try {
    const result = await run(absolute(path));
    process.stdout.write(`${terminalText(`${RESULTS[result.outcome]}: ${path}`)}\n`);
    return result;
  } catch (error) {
    const reason = clusterErrorText(error);
    warn(reason.includes(path) ? reason : `${path}: ${reason}`);
    return undefined;
  }
}
