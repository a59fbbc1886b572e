import { createHash } from 'node:crypto';

/** The stream that holds the logs of all sessions. */
export const LOG_STREAM = 'TAU';

/** The subjects of the logs of all sessions. */
export const ALL_LOGS = 'tau.log.*.*';

/** The buckets: live nodes, the list of sessions, and tokens, logins and login codes. */
export const NODES_BUCKET = 'tau_nodes';
export const INDEX_BUCKET = 'tau_index';
export const AUTH_BUCKET = 'tau_auth';
export const BUCKETS: readonly string[] = [NODES_BUCKET, INDEX_BUCKET, AUTH_BUCKET];

/** The stream that holds a bucket. */
export const bucketStream = (bucket: string): string => `KV_${bucket}`;

/** The streams of a cluster: that of the logs, and those of the buckets. */
export const CLUSTER_STREAMS: readonly string[] = [LOG_STREAM, ...BUCKETS.map(bucketStream)];

/** Changes when nodes of two versions must not exchange messages. */
export const CLUSTER_PROTOCOL = 1;

/** The inboxes of tau, so that permissions can name them. */
export const INBOX_PREFIX = '_INBOX_tau';

/** The subject of a session's log. Two digits of a hash come first, so that the stream can be split later. */
export function logSubject(sessionId: string): string {
  const hash = createHash('sha256').update(sessionId).digest('hex').slice(0, 2);
  return `tau.log.${hash}.${sessionId}`;
}

/** The subject on which one start of a node responds to requests of a kind. */
export const nodeSubject = (node: NodeIdentity, kind: string): string =>
  `tau.v${CLUSTER_PROTOCOL}.node.${node.name}.${node.incarnation}.${kind}`;

/** A node from its start to its end. */
export interface NodeIdentity {
  readonly name: string;
  /** Unique to each start. */
  readonly incarnation: string;
}
