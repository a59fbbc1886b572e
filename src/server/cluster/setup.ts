import {
  DiscardPolicy,
  JetStreamApiError,
  RetentionPolicy,
  StorageType,
  StoreCompression,
  type StreamConfig,
} from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { type ClusterConnection, ClusterUnusable } from './connection.ts';
import { ALL_LOGS, INDEX_BUCKET, LOG_STREAM, NODES_BUCKET } from './names.ts';
import { NODE_KEY_TTL_MS } from './node-lease.ts';

interface ClusterSettings {
  /** How many servers hold each record; 1 has no protection against the loss of a server. */
  readonly replicas: number;
  /** The size beyond which the log refuses records. */
  readonly maxBytes: number;
}

// The duplicate window is as short as possible, because no message has an id.
const DUPLICATE_WINDOW_NS = 1_000_000_000;

const streamConfig = ({ replicas, maxBytes }: ClusterSettings) =>
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
export async function createLogStream({ manager }: ClusterConnection, settings: ClusterSettings): Promise<void> {
  const { num_replicas, max_bytes, ...config } = streamConfig(settings);
  try {
    await manager.streams.add({ ...config, num_replicas, max_bytes });
  } catch (error) {
    if (isNotClustered(error))
      throw new ClusterUnusable(
        'The NATS servers are not a cluster: connect them by routes, or use --cluster-replicas 1',
      );
    if (!hasCode(error, STREAM_EXISTS)) throw error;
    await manager.streams.update(LOG_STREAM, { num_replicas, max_bytes });
  }
}

/** Rejects with `ClusterUnusable` if the stream is missing or could lose records. */
export async function checkLogStream({ manager }: ClusterConnection, replicas: number): Promise<void> {
  let config: StreamConfig;
  try {
    ({ config } = await manager.streams.info(LOG_STREAM));
  } catch (error) {
    if (!hasCode(error, STREAM_NOT_FOUND)) throw error;
    throw new ClusterUnusable(`The stream ${LOG_STREAM} does not exist: create it with tau cluster init`);
  }
  const problems = [
    config.discard === DiscardPolicy.New ? [] : ['removes old records when it is full: it needs discard "new"'],
    config.storage === StorageType.File ? [] : ['keeps its records in memory: it needs storage "file"'],
    config.allow_direct ? [] : ['forbids direct reads: it needs allow_direct'],
    config.max_age > 0 || config.max_msgs_per_subject > 0 ? ['removes records by age or number'] : [],
    config.num_replicas >= replicas
      ? []
      : [`has ${config.num_replicas} of ${replicas} replicas: allow it with --cluster-replicas ${config.num_replicas}`],
  ].flat();
  if (problems.length > 0) throw new ClusterUnusable(`The stream ${LOG_STREAM} ${problems.join('; it ')}`);
}

const STREAM_NOT_FOUND = 10059;
const STREAM_EXISTS = 10058;
const REPLICAS_NOT_SUPPORTED = 10074;

const hasCode = (error: unknown, code: number) =>
  error instanceof JetStreamApiError && error.apiError().err_code === code;

const isNotClustered = (error: unknown) => hasCode(error, REPLICAS_NOT_SUPPORTED);
/** Creates the buckets of the nodes and of the index, unless they exist. */
export async function createBuckets(
  { js }: ClusterConnection,
  { replicas }: Pick<ClusterSettings, 'replicas'>,
): Promise<void> {
  const buckets = new Kvm(js);
  await buckets.create(INDEX_BUCKET, { replicas, history: 1, storage: StorageType.File });
  await buckets.create(NODES_BUCKET, { replicas, ttl: NODE_KEY_TTL_MS, history: 1, storage: StorageType.File });
}
