import { readFileSync } from 'node:fs';
import { type JetStreamClient, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import {
  connect,
  credsAuthenticator,
  headers,
  type MsgHdrs,
  type NatsConnection,
  nkeyAuthenticator,
  type TlsOptions,
} from '@nats-io/transport-node';
import { messageOf } from '../../protocol/errors.ts';
import { INBOX_PREFIX } from './names.ts';

/** How to reach the NATS servers, and who connects. */
export interface ClusterAddress {
  readonly servers: readonly string[];
  readonly name: string;
  readonly credsFile?: string | undefined;
  readonly nkeyFile?: string | undefined;
  readonly caFile?: string | undefined;
}

/** A connection to the NATS servers of a cluster. */
export interface ClusterConnection {
  readonly nats: NatsConnection;
  readonly js: JetStreamClient;
  readonly manager: JetStreamManager;
  /** For reads: it gives up soon, because another server can respond. */
  readonly reader: JetStreamManager;
  readonly hasBatchReads: boolean;
  readonly newHeaders: () => MsgHdrs;
}

// Older servers accept two writers at the same position, or lose whole streams when they are killed.
const MIN_SERVER = [2, 10, 23] as const;

// A dead line is noticed after twice this time; the default of the client is two minutes.
const NATS_PING_MS = 2000;

const RECONNECT_WAIT_MS = 250;

const NATS_CONNECT_MS = 5000;

// How long one read may take.
const NATS_READ_MS = 500;

// How long the first connection may take, with the servers starting meanwhile.
const FIRST_CONNECT_MS = 30_000;

/** A cluster that cannot be used; the message names the cause and a remedy, and holds no secret. */
export class ClusterUnusable extends Error {
  override readonly name = 'ClusterUnusable';
}

/** Connects and checks the version of the server. Rejects with `ClusterUnusable`. */
export async function connectCluster(address: ClusterAddress, waitMs = FIRST_CONNECT_MS): Promise<ClusterConnection> {
  const nats = await firstConnection(address, waitMs);
  try {
    const version = nats.info?.version ?? '';
    if (isOlder(version)) {
      throw new ClusterUnusable(
        `The NATS server is version ${version}. Versions before ${MIN_SERVER.join('.')} can lose data: update it`,
      );
    }
    if (!nats.info?.jetstream)
      throw new ClusterUnusable('The NATS server has no JetStream: enable it in its configuration');
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: NATS_CONNECT_MS });
    const reader = await jetstreamManager(nats, { checkAPI: false, timeout: NATS_READ_MS });
    return {
      nats,
      reader,
      js: jetstream(nats),
      manager,
      hasBatchReads: !isOlder(version, [2, 11, 0]),
      newHeaders: headers,
    };
  } catch (error) {
    await nats.close();
    throw error;
  }
}

async function firstConnection(address: ClusterAddress, waitMs: number): Promise<NatsConnection> {
  const { servers, name } = address;
  const options = {
    servers: [...servers],
    name,
    inboxPrefix: INBOX_PREFIX,
    timeout: NATS_CONNECT_MS,
    pingInterval: NATS_PING_MS,
    maxPingOut: 2,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    ignoreAuthErrorAbort: true,
    ...authenticatorOf(address),
    ...tlsOf(address),
  };
  for (const deadline = performance.now() + waitMs; ; ) {
    try {
      return await connect(options);
    } catch (error) {
      const failure = connectFailure(error, servers);
      // Only a server that is not there may still come.
      if (!failure.mayPass || performance.now() > deadline) throw failure.reason;
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_WAIT_MS));
    }
  }
}

function connectFailure(error: unknown, servers: readonly string[]): { reason: ClusterUnusable; mayPass: boolean } {
  const text = `${messageOf(error)} ${messageOf((error as Error).cause ?? '')}`;
  const at = servers.join(', ');
  if (/authorization|authentication|nkey|signature/i.test(text))
    return { reason: new ClusterUnusable(`The NATS server at ${at} rejects the credentials`), mayPass: false };
  if (/certificate|self.signed|TLS|altname/i.test(text))
    return { reason: new ClusterUnusable(`The TLS connection to ${at} failed: check --nats-ca`), mayPass: false };
  return { reason: new ClusterUnusable(`No NATS server answers at ${at}`), mayPass: true };
}

function authenticatorOf({ credsFile, nkeyFile }: ClusterAddress) {
  if (credsFile !== undefined) return { authenticator: credsAuthenticator(readSecret(credsFile)) };
  if (nkeyFile === undefined) return {};
  const seed = new TextDecoder().decode(readSecret(nkeyFile)).trim();
  return { authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)) };
}

function tlsOf({ caFile }: ClusterAddress): { tls?: TlsOptions } {
  return caFile === undefined ? {} : { tls: { caFile } };
}

function readSecret(file: string): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ClusterUnusable(`Could not read ${file}: ${(error as NodeJS.ErrnoException).code ?? messageOf(error)}`);
  }
}

function isOlder(version: string, than: readonly number[] = MIN_SERVER): boolean {
  const numbers = version.split(/[.-]/).slice(0, than.length).map(Number);
  const difference = than.map((least, index) => (numbers[index] ?? 0) - least).find((one) => one !== 0);
  return difference !== undefined && !(difference > 0);
}
