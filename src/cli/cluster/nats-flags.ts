import { hostname } from 'node:os';
import { type CliArguments, UsageError } from '../flags/flags.ts';

/** How to reach the NATS servers, and how many of them hold each record. */
export interface NatsAddress {
  readonly servers: readonly string[];
  readonly replicas: number;
  readonly credsFile: string | undefined;
  readonly nkeyFile: string | undefined;
  readonly caFile: string | undefined;
}

/** How long commands wait for the first connection: not for servers that are starting. */
export const COMMAND_WAIT_MS = 5000;

const DEFAULT_REPLICAS = 3;
const MAX_REPLICAS = 5;

/** Reads the addresses of servers, separated by commas, and the flags about NATS. */
export function natsAddress(urls: string, args: CliArguments): NatsAddress {
  const servers = urls.split(',').map((url) => withScheme(url.trim()));
  return {
    servers,
    replicas: replicasFrom(args['cluster-replicas']),
    credsFile: args['nats-creds'],
    nkeyFile: args['nats-nkey'],
    caFile: args['nats-ca'],
  };
}

/** Reads the addresses of monitoring ports; each flag may have several, separated by commas. */
export function monitorAddresses(texts: readonly string[]): readonly string[] {
  return texts
    .flatMap((text) => text.split(','))
    .map((text) => {
      const url = text.trim();
      if (url.includes('@')) throw new UsageError('--nats-monitor takes addresses without credentials');
      if (/^https?:\/\//.test(url) && URL.canParse(url)) return url;
      throw new UsageError(`--nats-monitor takes addresses such as http://host:8222, not ${JSON.stringify(url)}`);
    });
}

const NODE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The name of a node, which is part of subjects and keys; by default that of the host. */
export function nodeName({ node = hostname().split('.', 1)[0] ?? '' }: CliArguments): string {
  if (NODE_NAME.test(node)) return node;
  throw new UsageError(`--node takes letters, digits, - and _, not ${JSON.stringify(node)}`);
}

/** A secret in an address would stand in the arguments of the process. */
function withScheme(url: string): string {
  const full = url.includes('://') ? url : `nats://${url}`;
  if (url.includes('@'))
    throw new UsageError('Give the credentials for NATS with --nats-creds or --nats-nkey, not in its address');
  if (/^(nats|tls):\/\//.test(full) && URL.canParse(full)) return full;
  throw new UsageError(`Not the address of a NATS server: ${JSON.stringify(url)}`);
}

function replicasFrom(text: string | undefined): number {
  const replicas = text === undefined ? DEFAULT_REPLICAS : Number(text);
  if (Number.isInteger(replicas) && replicas >= 1 && replicas <= MAX_REPLICAS) return replicas;
  throw new UsageError(`--cluster-replicas takes a whole number from 1 to ${MAX_REPLICAS}, not ${text}`);
}
