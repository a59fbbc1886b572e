import {
  type ClusterConnection,
  ClusterUnusable,
  clusterErrorText,
  connectCluster,
  untilAnswered,
} from '../../server/cluster/connection.ts';
import { LOG_STREAM } from '../../server/cluster/names.ts';
import { checkLogStream, createBuckets, createLogStream, streamInfo } from '../../server/cluster/setup.ts';
import { sizeText } from '../../system/size-text.ts';
import { warn } from '../../system/terminal-text.ts';
import { printFindings } from '../findings-report.ts';
import { type CliArguments, type FlagName, UsageError } from '../flags/flags.ts';
import { printAndExit } from '../stdio.ts';
import { checkCluster } from './check/check.ts';
import { importSessions } from './import.ts';
import { createKeys } from './keys.ts';
import { COMMAND_WAIT_MS, monitorAddresses, type NatsAddress, natsAddress, nodeName } from './nats-flags.ts';
import { listNodes } from './nodes.ts';

// The input of a verb.
interface ClusterVerbContext {
  readonly args: CliArguments;
  readonly address: NatsAddress & { readonly name: string };
  readonly words: readonly string[];
}

interface ClusterVerb {
  // Flags of this verb and not of all.
  readonly flags: readonly FlagName[];
  readonly takesPaths?: boolean;
  readonly run: (context: ClusterVerbContext) => Promise<number>;
}

const verbs: Readonly<Record<string, ClusterVerb>> = {
  init: { flags: ['max-bytes', 'lease-seconds'], run: init },
  check: { flags: ['nats-monitor', 'json'], run: check },
  nodes: { flags: ['json'], run: nodes },
  import: { flags: ['node'], takesPaths: true, run: importFiles },
};

/** `tau cluster <verb>`: creates, checks and shows what a cluster has on NATS. */
export async function cluster(args: CliArguments): Promise<number> {
  const [, name = '', urls, ...words] = args.positionals;
  if (name === 'keys') return createKeys(args.positionals.slice(2));
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (!verb) throw new UsageError(`tau cluster takes keys, ${Object.keys(verbs).join(', ')}`);
  if (urls === undefined || (words.length > 0 && !verb.takesPaths))
    throw new UsageError(`tau cluster ${name} takes the addresses of NATS servers, separated by commas`);
  for (const [other, { flags }] of Object.entries(verbs)) {
    const misplaced = flags.find((flag) => args[flag] !== undefined && !verb.flags.includes(flag));
    if (misplaced) throw new UsageError(`--${misplaced} goes with tau cluster ${other}`);
  }
  try {
    return await verb.run({ args, words, address: { ...natsAddress(urls, args), name: `tau cluster ${name}` } });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    warn(clusterErrorText(error));
    return 1;
  }
}

async function init({ args, address }: ClusterVerbContext): Promise<number> {
  const { replicas } = address;
  const maxBytes = sizeFrom(args['max-bytes']);
  const keyLifeMs = leaseFrom(args['lease-seconds']);
  const connection = await connectCluster(address, COMMAND_WAIT_MS);
  try {
    const before = await checkNewSize(connection, maxBytes);
    const onWait = (reason: string) => warn(`Waiting for NATS servers with room for the stream (${reason})`);
    await createLogStream(connection, { replicas, maxBytes, onWait });
    const lives = await createBuckets(connection, { replicas, keyLifeMs, onWait });
    await checkLogStream(connection, replicas);
    const changes = [
      ...(maxBytes < before ? [`The log may now hold ${sizeText(maxBytes)} instead of ${sizeText(before)}.\n`] : []),
      ...(lives.keyLifeMs === lives.keyLifeBeforeMs ? [] : [leaseChange(lives)]),
    ];
    return await printAndExit(`${changes.join('')}The cluster is set up.\n`);
  } finally {
    await connection.nats.close();
  }
}

// A log that shrinks keeps room for as much as it holds: one that is full stops the cluster.
const ROOM_FACTOR = 2;

/** Returns the size of the log before; 0 if there is none. Rejects if it would shrink to a size that is soon full. */
async function checkNewSize(connection: ClusterConnection, maxBytes: number): Promise<number> {
  const info = await untilAnswered(() => streamInfo(connection, LOG_STREAM));
  if (!info) return 0;
  const { config, state } = info;
  const { bytes } = state;
  const before = config.max_bytes > 0 ? config.max_bytes : Number.POSITIVE_INFINITY;
  if (maxBytes >= before || maxBytes >= ROOM_FACTOR * bytes) return before;
  throw new ClusterUnusable(
    `The log may hold ${sizeText(before)} and holds ${sizeText(bytes)}: ${sizeText(maxBytes)} would be too small`,
  );
}

async function check({ args, address }: ClusterVerbContext): Promise<number> {
  const monitors = monitorAddresses(args['nats-monitor'] ?? []);
  const findings = await checkCluster({ address, replicas: address.replicas, monitors });
  return printFindings(findings, { asJson: args.json !== undefined });
}

function nodes({ args, address }: ClusterVerbContext): Promise<number> {
  return listNodes(address, { asJson: args.json !== undefined });
}

function importFiles({ args, address, words }: ClusterVerbContext): Promise<number> {
  if (words.length === 0) throw new UsageError('tau cluster import takes the paths of session files');
  return importSessions(address, words, {
    replicas: address.replicas,
    node: nodeName(args),
    isNodeGiven: args.node !== undefined,
  });
}

// Shorter leases than an election of NATS servers are for tests.
const MIN_LEASE_SECONDS = 2;
const MAX_LEASE_SECONDS = 300;

const leaseChange = ({ keyLifeMs, keyLifeBeforeMs }: { keyLifeMs: number; keyLifeBeforeMs: number }) =>
  `Leases now last ${keyLifeMs / 1000} s instead of ${keyLifeBeforeMs / 1000} s: restart the nodes that are running.\n`;

/** Undefined for the lifetime that the cluster has. */
function leaseFrom(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (seconds >= MIN_LEASE_SECONDS && seconds <= MAX_LEASE_SECONDS) return 1000 * seconds;
  throw new UsageError(`--lease-seconds takes a number from ${MIN_LEASE_SECONDS} to ${MAX_LEASE_SECONDS}, not ${text}`);
}

const UNITS: Readonly<Record<string, number>> = { M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

function sizeFrom(text: string | undefined): number {
  if (text === undefined) throw new UsageError('tau cluster init requires --max-bytes, such as 200G');
  const [, number, unit = ''] = /^([1-9]\d{0,5})([MGT])$/.exec(text) ?? [];
  if (number === undefined)
    throw new UsageError(`--max-bytes takes a whole number with M, G or T, such as 200G, not ${JSON.stringify(text)}`);
  return Number(number) * (UNITS[unit] ?? 0);
}
