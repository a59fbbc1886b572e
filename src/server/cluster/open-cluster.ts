import { basename, join } from 'node:path';
import { version } from '../../protocol/generated/version.ts';
import type { SessionHeader } from '../../protocol/generated/vocabulary.ts';
import { clusterSessionsFolder } from '../../store/sessions/cluster-files.ts';
import { headerOf, sessionFileName } from '../../store/sessions/header.ts';
import type { ListOptions } from '../../store/sessions/listing/list-sessions.ts';
import type { ServerCredentials } from '../auth/server-credentials.ts';
import type { LocalSessions } from '../hosting/local-sessions.ts';
import type { SessionStorage } from '../hosting/storage/session-storage.ts';
import type { SessionLibrary } from '../session-library.ts';
import type { Sessions } from '../sessions.ts';
import type { StoredHeader, StoredSessions } from '../stored-sessions.ts';
import { ClusterCredentials } from './auth/cluster-credentials.ts';
import { ClusterIndex, sessionIdIn } from './cluster-index.ts';
import { ClusterLibrary } from './cluster-library.ts';
import { ClusterStorage } from './cluster-storage.ts';
import {
  type ClusterAddress,
  type ClusterConnection,
  connectCluster,
  disconnect,
  NatsLiveness,
  untilAnswered,
} from './connection.ts';
import { FencedLog } from './log/fenced-log.ts';
import { LogOwnership } from './log/log-ownership.ts';
import { ReplicaFiles } from './log/replica-file.ts';
import { CLUSTER_PROTOCOL, type NodeIdentity } from './names.ts';
import { NodeDirectory } from './nodes/node-directory.ts';
import { settingsDigest, statusesOf } from './nodes/node-facts.ts';
import { NodeLease } from './nodes/node-lease.ts';
import { Placement } from './nodes/placement.ts';
import { type PreparationOptions, WorkspacePreparation } from './nodes/prepare-workspace.ts';
import type { ClusterGauges, ClusterObserver } from './observer.ts';
import { ClusterSessions } from './remote/cluster-sessions.ts';
import { Channels } from './remote/node-channel.ts';
import { SessionServer } from './remote/session-server.ts';
import { checkBuckets, checkLogStream } from './setup.ts';

export interface ClusterOptions extends Omit<ClusterAddress, 'name'> {
  readonly node: string;
  readonly replicas: number;
  /** Folders that are the same on every node that names them. */
  readonly shared: readonly string[];
  /** A shell command that makes the folder of a session here, if its own node is away. */
  readonly prepareWorkspace?: string | undefined;
}

interface ServerParts {
  readonly agentDir: string;
  /** The environment of agents. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onError: (error: unknown) => void;
  /** Called with a sentence for each token or login that is invalid. */
  readonly onInvalidCredential: (problem: string) => void;
  readonly observer: ClusterObserver;
}

/** The cluster as a server uses it. */
export interface Cluster {
  readonly storage: SessionStorage;
  readonly stored: StoredSessions;
  readonly library: SessionLibrary;
  /** The tokens, logins and login codes of all nodes. */
  readonly credentials: ServerCredentials;
  /** Call once, with the sessions that this node serves and paths for their exported pages; returns those of all nodes. */
  connect(local: LocalSessions, newExportPath: () => string): Sessions;
  /** The state of a session that another node serves. */
  statusOf(sessionId: string): ReturnType<Sessions['statusOf']>;
  /** Shows the other nodes that this one is shutting down. */
  publishDraining(): void;
  /** The reason for which this node accepts no new clients at the moment. */
  unavailability(): string | undefined;
  gauges(): ClusterGauges;
  /** Call when all agents have ended. */
  close(): Promise<void>;
}

/** Joins a cluster as a node. Rejects with a sentence if the cluster cannot be used safely. */
export async function openCluster(
  { node, replicas, shared, prepareWorkspace, ...address }: ClusterOptions,
  { agentDir, env, onError, onInvalidCredential, observer }: ServerParts,
): Promise<Cluster> {
  const cluster = await connectCluster({ ...address, name: node });
  try {
    const stream = await untilAnswered(() => checkLogStream(cluster, replicas));
    await untilAnswered(() => checkBuckets(cluster));
    const credentials = await untilAnswered(() =>
      ClusterCredentials.open(cluster, { onProblem: onInvalidCredential, onError }),
    );
    const files = new ReplicaFiles(clusterSessionsFolder(agentDir), stream);
    const index = await untilAnswered(() => ClusterIndex.open(cluster, onError));
    const directory = await untilAnswered(() => NodeDirectory.open(cluster, onError));
    let local: LocalSessions | undefined;
    const settings = settingsDigest(agentDir);
    // A node that serves no sessions, or not yet, offers no folders.
    const foldersOf = (sessions: LocalSessions | undefined) =>
      sessions?.servesNone === false
        ? { shared, prepares: prepareWorkspace !== undefined }
        : { shared: [], prepares: false };
    const facts = () => ({ version, protocol: CLUSTER_PROTOCOL, settings, ...foldersOf(local), ...loadOf(local) });
    // Last, because a start that fails must leave the name to the next one.
    const lease = await untilAnswered(() => NodeLease.take(cluster, { name: node, facts }));
    observer.onLife?.('begun', lease.identity);
    const ownership = new LogOwnership(cluster, lease, observer);
    const connection = new NatsLiveness(cluster.nats, (isConnected) => {
      observer.onConnection?.(isConnected);
      if (isConnected) ownership.checkHeld().catch(onError);
    });
    const preparation = prepareWorkspace === undefined ? undefined : { command: prepareWorkspace, env };
    let nodes: ReturnType<typeof connectNodes> | undefined;
    return {
      storage: new ClusterStorage({ ownership, files, index, node, onError }),
      stored: new IndexedSessions({ index, files, readHeader: (id) => headerInLog(cluster, id, lease.identity) }),
      library: new ClusterLibrary({ ownership, files, index }),
      credentials,
      connect: (sessions, newExportPath) => {
        local = sessions;
        nodes = connectNodes({
          cluster,
          lease,
          ownership,
          directory,
          index,
          local,
          shared,
          preparation,
          observer,
          newExportPath,
          onError,
        });
        lease.publish();
        return nodes.sessions;
      },
      statusOf: (sessionId) => directory.statusOf(sessionId),
      publishDraining: () => lease.publish(),
      unavailability: () => unavailability(lease, connection),
      gauges: () => ({
        leaseAgeSeconds: lease.ageMs / 1000,
        remoteHandles: nodes?.sessions.handleCount ?? 0,
        isConnected: connection.isConnected,
        nodesWithOtherSettings: directory.all.filter((other) => other.name !== node && other.settings !== settings)
          .length,
      }),
      close: async () => {
        nodes?.end();
        await lease.release();
        observer.onLife?.('ended', lease.identity);
        await disconnect(cluster);
      },
    };
  } catch (error) {
    await cluster.nats.close();
    throw error;
  }
}

function unavailability(lease: NodeLease, { isConnected }: NatsLiveness): string | undefined {
  if (lease.lost.aborted) return 'the node has lost its lease';
  if (!isConnected) return 'NATS is not connected';
  return lease.isLate ? 'the cluster does not answer' : undefined;
}

/** The load of a node that has the sessions, or has none yet. */
function loadOf(local: LocalSessions | undefined) {
  const hosts = [...(local?.hosts ?? [])];
  return {
    agents: hosts.length,
    hasRoom: local?.hasRoom ?? false,
    isDraining: local?.isDraining ?? false,
    statuses: statusesOf(hosts),
  };
}

interface IndexedSessionsParts {
  readonly index: ClusterIndex;
  readonly files: ReplicaFiles;
  readonly readHeader: (id: string) => Promise<SessionHeader | undefined>;
}

/** The sessions of all nodes. A path names a session by the id in it, on every node. */
class IndexedSessions implements StoredSessions {
  readonly folder: string;
  readonly headersRead = 0;
  readonly refusesMissingFolders = true;
  readonly #parts: IndexedSessionsParts;
  /** Sessions that are not in the index, as their logs hold them. */
  readonly #found = new Map<string, SessionHeader>();

  constructor(parts: IndexedSessionsParts) {
    this.#parts = parts;
    this.folder = parts.files.folder;
  }

  ownPath(path: string): string {
    return sessionIdIn(path) === '' ? path : join(this.folder, basename(path));
  }

  async list(options: ListOptions) {
    const { sessions, ...more } = this.#parts.index.list(options);
    return { ...more, sessions: sessions.map((session) => ({ ...session, path: join(this.folder, session.path) })) };
  }

  async findKnown(id: string): Promise<string | undefined> {
    const path = this.#parts.index.get(id)?.path;
    return path === undefined ? undefined : join(this.folder, path);
  }

  /** A session without messages is in no index: its log is looked at. */
  async find(id: string): Promise<string | undefined> {
    const known = this.#parts.index.find(id);
    if (known) return known.isTrashed ? undefined : join(this.folder, known.path);
    const header = await this.#parts.readHeader(id);
    if (!header) return undefined;
    this.#found.set(id, header);
    const [oldest] = this.#found.keys();
    if (this.#found.size > MAX_FOUND_HEADERS && oldest !== undefined) this.#found.delete(oldest);
    return join(this.folder, sessionFileName(id, new Date(header.timestamp)));
  }

  forgetUnknown(): void {}

  headerOf(path: string): StoredHeader | 'missing' {
    const id = sessionIdIn(path);
    const session = this.#parts.index.get(id) ?? this.#found.get(id) ?? this.#localHeader(id);
    return session ? { id, cwd: session.cwd } : 'missing';
  }

  /** The header in the file of a session that this node serves, before it is in the index. */
  #localHeader(id: string): SessionHeader | undefined {
    const path = this.#parts.index.find(id) ? undefined : this.#parts.files.find(id);
    const header = path === undefined ? undefined : headerOf(path);
    return typeof header === 'object' ? header : undefined;
  }
}

// Headers of logs that are remembered.
const MAX_FOUND_HEADERS = 1000;

/** The header of a session as its log holds it. */
async function headerInLog(
  cluster: ClusterConnection,
  id: string,
  identity: NodeIdentity,
): Promise<SessionHeader | undefined> {
  const entries = await new FencedLog(cluster, id, identity).readFirstEntries();
  const [line] = entries ? new TextDecoder().decode(entries).split('\n', 1) : [];
  const header = line === undefined ? undefined : (JSON.parse(line) as SessionHeader);
  return header?.type === 'session' ? header : undefined;
}

interface NodeParts {
  readonly cluster: ClusterConnection;
  readonly lease: NodeLease;
  readonly ownership: LogOwnership;
  readonly directory: NodeDirectory;
  readonly index: ClusterIndex;
  readonly local: LocalSessions;
  readonly shared: readonly string[];
  readonly preparation?: PreparationOptions | undefined;
  readonly observer?: ClusterObserver;
  readonly newExportPath: () => string;
  readonly onError: (error: unknown) => void;
}

/** Serves the sessions of this node to others, and reaches those of other nodes. */
export function connectNodes(parts: NodeParts): { sessions: ClusterSessions; end: () => void } {
  const { cluster, lease, ownership, local, observer = {}, onError } = parts;
  const preparation = parts.preparation && new WorkspacePreparation(parts.preparation);
  const placement = new Placement({ ...parts, preparation });
  const server = new SessionServer(local, {
    prepare: (target) => placement.prepare(target),
    newExportPath: parts.newExportPath,
  });
  const channels = new Channels({
    cluster,
    identity: () => lease.identity,
    probe: (node) => lease.probe(node),
    onMessage: (message, channel) => {
      try {
        if (!server.handle(message, channel)) sessions.handle(message, channel);
      } catch (error) {
        onError(error);
      }
    },
    onGap: (from) => observer.onChannelGap?.(from),
    onClose: (channel) => {
      server.onClose(channel);
      sessions.onClose(channel);
    },
  });
  const sessions = new ClusterSessions({
    name: () => lease.identity.name,
    local,
    ownership,
    placement,
    channels,
    onError,
  });
  channels.listen();
  lease.onReleaseRequest((id) => local.handOver(id));
  lease.onLife((change) => {
    observer.onLife?.(change === 'lost' ? 'lost' : 'regained', lease.identity);
    // Those that were opened between two lives receive nothing.
    channels.closeAll();
    if (change === 'begun') channels.listen();
  });
  return { sessions, end: () => channels.end() };
}
