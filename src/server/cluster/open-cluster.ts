import { join } from 'node:path';
import { version } from '../../protocol/generated/version.ts';
import type { SessionHeader } from '../../protocol/generated/vocabulary.ts';
import { serverFolder } from '../../store/agent-dir.ts';
import { headerOf, sessionFileName } from '../../store/sessions/header.ts';
import type { ListOptions } from '../../store/sessions/listing/list-sessions.ts';
import type { LocalSessions } from '../hosting/local-sessions.ts';
import type { SessionStorage } from '../hosting/storage/session-storage.ts';
import type { SessionLibrary } from '../session-library.ts';
import type { Sessions } from '../sessions.ts';
import type { StoredHeader, StoredSessions } from '../stored-sessions.ts';
import { ClusterIndex, sessionIdIn } from './cluster-index.ts';
import { ClusterLibrary } from './cluster-library.ts';
import { ClusterStorage } from './cluster-storage.ts';
import { type ClusterAddress, type ClusterConnection, connectCluster } from './connection.ts';
import { FencedLog } from './fenced-log.ts';
import { LogOwnership } from './log-ownership.ts';
import type { NodeIdentity } from './names.ts';
import { NodeLease } from './node-lease.ts';
import { ClusterSessions } from './remote/cluster-sessions.ts';
import { Channels } from './remote/node-channel.ts';
import { SessionServer } from './remote/session-server.ts';
import { ReplicaFiles } from './replica-file.ts';
import { checkLogStream } from './setup.ts';

export interface ClusterOptions extends Omit<ClusterAddress, 'name'> {
  readonly node: string;
  readonly replicas: number;
}

/** The cluster as a server uses it. */
export interface Cluster {
  readonly storage: SessionStorage;
  readonly stored: StoredSessions;
  readonly library: SessionLibrary;
  /** Call once, with the sessions that this node serves; returns those of all nodes. */
  connect(local: LocalSessions): Sessions;
  /** Whether this node may own sessions. */
  readonly isUsable: () => boolean;
  /** Call when all agents have ended. */
  close(): Promise<void>;
}

/** Joins a cluster as a node. Rejects with a sentence if the cluster cannot be used safely. */
export async function openCluster(
  { node, replicas, ...address }: ClusterOptions,
  { agentDir, onError }: { agentDir: string; onError: (error: unknown) => void },
): Promise<Cluster> {
  const cluster = await connectCluster({ ...address, name: node });
  try {
    await checkLogStream(cluster, replicas);
    const lease = await NodeLease.take(cluster, { name: node, version });
    const files = new ReplicaFiles(join(serverFolder(agentDir), 'cluster', 'sessions'));
    const index = await ClusterIndex.open(cluster);
    const ownership = new LogOwnership(cluster, lease);
    let endChannels = () => {};
    return {
      storage: new ClusterStorage({ ownership, files, index, node, onError }),
      stored: new IndexedSessions({ index, files, readHeader: (id) => headerInLog(cluster, id, lease.identity) }),
      library: new ClusterLibrary({ ownership, files, index }),
      connect: (local) => {
        const connected = connectNodes({ cluster, lease, ownership, local });
        endChannels = connected.end;
        return connected.sessions;
      },
      isUsable: () => !lease.lost.aborted,
      close: async () => {
        endChannels();
        await lease.release();
        await cluster.nats.drain();
      },
    };
  } catch (error) {
    await cluster.nats.close();
    throw error;
  }
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
  readonly #parts: IndexedSessionsParts;
  /** Sessions that are not in the index, as their logs hold them. */
  readonly #found = new Map<string, SessionHeader>();

  constructor(parts: IndexedSessionsParts) {
    this.#parts = parts;
    this.folder = parts.files.folder;
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
  readonly local: LocalSessions;
}

/** Serves the sessions of this node to others, and reaches those of other nodes. */
export function connectNodes({ cluster, lease, ownership, local }: NodeParts): { sessions: Sessions; end: () => void } {
  const server = new SessionServer(local);
  const channels = new Channels({
    cluster,
    identity: () => lease.identity,
    probe: (node) => lease.probe(node),
    onMessage: (message, channel) => {
      if (!server.handle(message, channel)) sessions.handle(message);
    },
    onClose: (channel) => {
      server.onClose(channel);
      sessions.onClose(channel);
    },
  });
  const sessions = new ClusterSessions({ local, ownership, channels });
  channels.listen();
  lease.onReleaseRequest((id) => local.release({ kind: 'new', id, cwd: '' }));
  lease.onLife((change) => (change === 'lost' ? channels.closeAll() : channels.listen()));
  return { sessions, end: () => channels.end() };
}
