import { setTimeout as delay } from 'node:timers/promises';
import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { messageOf } from '../../protocol/errors.ts';
import { type ClusterConnection, ClusterUnusable, throwIfForbidden, untilAnswered } from './connection.ts';
import { ALL_LOGS, BUCKETS, bucketStream, LOG_STREAM, NODES_BUCKET } from './names.ts';

interface ClusterSettings {
  /** How many servers hold each record; 1 has no protection against the loss of a server. */
  readonly replicas: number;
  /** Called once, with the reason of the servers, if they have had too little room for some seconds. */
  readonly onWait?: ((reason: string) => void) | undefined;
}

interface LogSettings extends ClusterSettings {
  /** The size beyond which the log refuses records. */
  readonly maxBytes: number;
}

// The duplicate window is as short as possible, because no message has an id.
const DUPLICATE_WINDOW_NS = 1_000_000_000;

const streamConfig = ({ replicas, maxBytes }: LogSettings) =>
  ({
    name: LOG_STREAM,
    subjects: [ALL_LOGS],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    // The default would remove the oldest sessions when the stream is full.
    discard: DiscardPolicy.New,
    num_replicas: replicas,
    max_bytes: maxBytes,
    deny_delete: true,
    allow_direct: true,
    duplicate_window: DUPLICATE_WINDOW_NS,
    compression: StoreCompression.S2,
  }) satisfies Partial<StreamConfig>;

/** Creates the stream of the logs, or gives the existing one this size and number of replicas. */
export async function createLogStream({ manager }: ClusterConnection, settings: LogSettings): Promise<void> {
  const { num_replicas, max_bytes, ...config } = streamConfig(settings);
  try {
    await untilPeersAreKnown(() => manager.streams.add({ ...config, num_replicas, max_bytes }), settings.onWait);
  } catch (error) {
    if (isNotClustered(error))
      throw new ClusterUnusable(
        'The NATS servers are not a cluster: connect them by routes, or use --cluster-replicas 1',
      );
    throwIfForbidden(error);
    if (!hasCode(error, STREAM_EXISTS)) throw error;
    await manager.streams.update(LOG_STREAM, { num_replicas, max_bytes });
  }
}

/** Rejects with `ClusterUnusable` if the stream is missing or could lose records. Returns what identifies the stream. */
export async function checkLogStream(connection: ClusterConnection, replicas: number): Promise<string> {
  const info = await streamInfo(connection, LOG_STREAM);
  if (!info) throw new ClusterUnusable(`The stream ${LOG_STREAM} does not exist: create it with tau cluster init`);
  const problems = logStreamProblems(info.config, replicas);
  if (problems.length > 0) throw new ClusterUnusable(`The stream ${LOG_STREAM} ${problems.join('; it ')}`);
  return info.created;
}

/** The state of a stream; undefined if it does not exist. */
export async function streamInfo({ manager }: ClusterConnection, name: string): Promise<StreamInfo | undefined> {
  try {
    return await manager.streams.info(name);
  } catch (error) {
    if (hasCode(error, STREAM_NOT_FOUND)) return undefined;
    throw error;
  }
}

/** The settings of the stream by which it could lose records. */
export const logStreamProblems = (config: StreamConfig, replicas: number): readonly string[] =>
  [
    config.discard === DiscardPolicy.New ? [] : ['removes old records when it is full: it needs discard "new"'],
    config.storage === StorageType.File ? [] : ['keeps its records in memory: it needs storage "file"'],
    config.allow_direct ? [] : ['forbids direct reads: it needs allow_direct'],
    config.max_age > 0 || config.max_msgs_per_subject > 0 ? ['removes records by age or number'] : [],
    config.num_replicas >= replicas
      ? []
      : [`has ${config.num_replicas} of ${replicas} replicas: allow it with --cluster-replicas ${config.num_replicas}`],
  ].flat();

// How long servers that have just started may take to know each other. They exchange their free room every 10 s.
const PEERS_MS = 60_000;

const PEERS_REPORT_MS = 5000;

const PEERS_RETRY_MS = 250;

/** Repeats the creation of a stream while the servers do not know enough others for its replicas. */
async function untilPeersAreKnown<T>(create: () => Promise<T>, onWait?: (reason: string) => void): Promise<T> {
  const start = performance.now();
  for (let isReported = false; ; ) {
    try {
      return await untilAnswered(create);
    } catch (error) {
      if (!hasCode(error, NO_PEERS)) throw error;
      const waited = performance.now() - start;
      if (waited > PEERS_MS)
        throw new ClusterUnusable(
          `Too few NATS servers have room for the stream: start all of them, and check --max-bytes and their disks (${messageOf(error)})`,
        );
      if (waited > PEERS_REPORT_MS && !isReported) {
        isReported = true;
        onWait?.(messageOf(error));
      }
    }
    await delay(PEERS_RETRY_MS);
  }
}

const NO_PEERS = 10005;
const STREAM_NOT_FOUND = 10059;
const STREAM_EXISTS = 10058;
const REPLICAS_NOT_SUPPORTED = 10074;

const hasCode = (error: unknown, code: number) =>
  error instanceof JetStreamApiError && error.apiError().err_code === code;

const isNotClustered = (error: unknown) => hasCode(error, REPLICAS_NOT_SUPPORTED);

/** The lifetime of a node's key that is not renewed. An election of the NATS servers takes up to 9 s and must end no lease. */
export const NODE_KEY_LIFE_MS = 20_000;

/**
 * Creates the buckets that are missing, and gives all this number of replicas. The keys of the nodes get this lifetime;
 * without one, they keep theirs. Returns the lifetimes before and now.
 */
export async function createBuckets(
  { js, manager }: ClusterConnection,
  { replicas, keyLifeMs, onWait }: ClusterSettings & { readonly keyLifeMs?: number | undefined },
): Promise<{ readonly keyLifeBeforeMs: number; readonly keyLifeMs: number }> {
  const kvm = new Kvm(js);
  const result = { keyLifeBeforeMs: 0, keyLifeMs: 0 };
  for (const name of BUCKETS) {
    const isNodes = name === NODES_BUCKET;
    const initial = isNodes ? (keyLifeMs ?? NODE_KEY_LIFE_MS) : 0;
    const options = { replicas, ttl: initial, history: 1, storage: StorageType.File };
    const found = await (await untilPeersAreKnown(() => kvm.create(name, options), onWait)).status();
    // Keys without an end would keep dead nodes.
    const ttl = isNodes && keyLifeMs === undefined && found.ttl > 0 ? found.ttl : initial;
    if (isNodes) Object.assign(result, { keyLifeBeforeMs: found.ttl, keyLifeMs: ttl });
    if (found.replicas === replicas && found.ttl === ttl) continue;
    await manager.streams.update(bucketStream(name), {
      num_replicas: replicas,
      max_age: ttl * NS_PER_MS,
      // Must not be longer than that.
      duplicate_window: DUPLICATE_WINDOW_NS,
    });
  }
  return result;
}

const NS_PER_MS = 1_000_000;

/** Rejects with `ClusterUnusable` if a bucket is missing: a cluster that an older version set up has fewer. */
export async function checkBuckets(connection: ClusterConnection): Promise<void> {
  for (const bucket of BUCKETS) {
    if (!(await streamInfo(connection, bucketStream(bucket))))
      throw new ClusterUnusable(`The bucket ${bucket} does not exist: create it with tau cluster init`);
  }
}
