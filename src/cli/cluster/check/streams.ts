import { StorageType, type StreamInfo } from '@nats-io/jetstream';
import { fine, problem, warning } from '../../../engine/diagnosis/finding.ts';
import type { Finding } from '../../../protocol/generated/vocabulary.ts';
import type { ClusterConnection } from '../../../server/cluster/connection.ts';
import { AUTH_BUCKET, bucketStream, INDEX_BUCKET, LOG_STREAM, NODES_BUCKET } from '../../../server/cluster/names.ts';
import { logStreamProblems, streamInfo } from '../../../server/cluster/setup.ts';
import { sizeText } from '../../../system/size-text.ts';

const NS_PER_SECOND = 1e9;

// An election of the servers takes up to 9 s; a node gives up after three quarters of the lifetime of its key.
const MIN_KEY_LIFE_SECONDS = 13;

// Above this share of its size the log should be enlarged.
const FULL_SHARE = 0.8;

interface CheckedStreams {
  readonly findings: readonly Finding[];
  /** The servers that hold the streams. */
  readonly peers: readonly string[];
  readonly hasLog: boolean;
}

/** Checks the stream of the logs and the buckets: that they exist, keep what they have, and are on enough servers. */
export async function checkStreams(connection: ClusterConnection, replicas: number): Promise<CheckedStreams> {
  const stores = [
    { check: 'log', stream: LOG_STREAM, problems: logProblems },
    { check: 'nodes', stream: bucketStream(NODES_BUCKET), problems: nodesProblems },
    { check: 'index', stream: bucketStream(INDEX_BUCKET), problems: indexProblems },
    { check: 'auth', stream: bucketStream(AUTH_BUCKET), problems: authProblems },
  ];
  const infos = await Promise.all(stores.map(({ stream }) => streamInfo(connection, stream)));
  const findings = stores.flatMap(({ check, stream, problems }, at) => {
    const info = infos[at];
    if (!info) return problem(check, `The stream ${stream} does not exist: create it with tau cluster init`);
    const found = [...problems(info, replicas), ...replicaProblems(info)];
    if (found.length > 0) return found.map((text) => problem(check, `The stream ${stream} ${text}`));
    return [fine(check, describe(info)), ...warningsOf(check, info)];
  });
  return { findings, peers: infos.flatMap((info) => (info ? peersOf(info) : [])), hasLog: infos[0] !== undefined };
}

const logProblems = ({ config }: StreamInfo, replicas: number) => logStreamProblems(config, replicas);

function nodesProblems({ config }: StreamInfo, replicas: number): readonly string[] {
  const hasEnd = config.max_age > 0;
  const endless = 'keeps the keys of dead nodes: create it again with tau cluster init';
  return [...(hasEnd ? [] : [endless]), ...bucketProblems(config, replicas)];
}

function indexProblems({ config }: StreamInfo, replicas: number): readonly string[] {
  const isEndless = config.max_age === 0;
  return [...(isEndless ? [] : ['removes sessions from the list by age']), ...bucketProblems(config, replicas)];
}

function authProblems({ config }: StreamInfo, replicas: number): readonly string[] {
  const isEndless = config.max_age === 0;
  return [...(isEndless ? [] : ['removes tokens by age']), ...bucketProblems(config, replicas)];
}

const bucketProblems = ({ num_replicas, storage }: StreamInfo['config'], replicas: number): readonly string[] => [
  ...(num_replicas >= replicas ? [] : [`has ${num_replicas} of ${replicas} replicas`]),
  ...(storage === StorageType.File ? [] : ['keeps its records in memory: it needs storage "file"']),
];

/** Replicas that do not hold what the stream has acknowledged. */
function replicaProblems({ config, cluster }: StreamInfo): readonly string[] {
  const { replicas = [], leader } = cluster ?? {};
  const behind = replicas.filter(({ current, offline }) => offline || !current);
  const lost = config.num_replicas - 1 - replicas.length;
  return [
    ...behind.map(({ name, offline }) => `is ${offline ? 'not reachable' : 'not complete'} on server ${name}`),
    ...(lost > 0 ? [`has ${1 + replicas.length} of its ${config.num_replicas} replicas`] : []),
    ...(cluster && !leader ? ['has no leader'] : []),
  ];
}

function describe({ config, state }: StreamInfo): string {
  const life = config.max_age > 0 ? `, keys live ${config.max_age / NS_PER_SECOND} s` : '';
  const limit = config.max_bytes > 0 ? ` of ${sizeText(config.max_bytes)}` : '';
  const copies = `${config.num_replicas} ${config.num_replicas === 1 ? 'replica' : 'replicas'}`;
  return `${config.name}: ${copies}, all current, ${sizeText(state.bytes)}${limit}${life}`;
}

function warningsOf(check: string, { config, state }: StreamInfo): readonly Finding[] {
  const { max_bytes: maxBytes, max_age: maxAge } = config;
  const isNearlyFull = maxBytes > 0 && state.bytes > FULL_SHARE * maxBytes;
  const isShort = maxAge > 0 && maxAge < MIN_KEY_LIFE_SECONDS * NS_PER_SECOND;
  return [
    ...(check === 'log' && config.num_replicas === 1
      ? [warning(check, 'One replica: the loss of its server loses it')]
      : []),
    ...(isNearlyFull ? [warning(check, 'Nearly full: enlarge it with tau cluster init and a larger --max-bytes')] : []),
    ...(isShort
      ? [
          warning(
            check,
            'An election of the NATS servers may end the leases: lengthen them with tau cluster init --lease-seconds 20',
          ),
        ]
      : []),
  ];
}

const peersOf = ({ cluster }: StreamInfo): readonly string[] =>
  [cluster?.leader, ...(cluster?.replicas ?? []).map(({ name }) => name)].filter((name) => name !== undefined);
