import { type CliArguments, UsageError } from '../flags/flags.ts';

interface NatsAddress {
  readonly servers: readonly string[];
  readonly replicas: number;
  readonly credsFile: string | undefined;
  readonly nkeyFile: string | undefined;
  readonly caFile: string | undefined;
}

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

const NODE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Whether this can name a node: it is part of subjects and keys. */
export const isNodeName = (name: string): boolean => NODE_NAME.test(name);

/** A secret in an address would stand in the arguments of the process. */
function withScheme(url: string): string {
  const full = url.includes('://') ? url : `nats://${url}`;
  if (!/^(nats|tls):\/\//.test(full) || !URL.canParse(full))
    throw new UsageError(`Not the address of a NATS server: ${JSON.stringify(url)}`);
  const { username, password } = new URL(full);
  if (username || password)
    throw new UsageError('Give the credentials for NATS with --nats-creds or --nats-nkey, not in its address');
  return full;
}

function replicasFrom(text: string | undefined): number {
  const replicas = text === undefined ? DEFAULT_REPLICAS : Number(text);
  if (Number.isInteger(replicas) && replicas >= 1 && replicas <= MAX_REPLICAS) return replicas;
  throw new UsageError(`--cluster-replicas takes a whole number from 1 to ${MAX_REPLICAS}, not ${text}`);
}
