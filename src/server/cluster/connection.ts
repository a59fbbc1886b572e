import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { checkServerIdentity as checkName, type PeerCertificate } from 'node:tls';
import {
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
} from '@nats-io/jetstream';
import {
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  nkeys,
  type TlsOptions,
} from '@nats-io/transport-node';
import { messageOf } from '../../protocol/errors.ts';
import { withTimeout } from '../../system/with-timeout.ts';
import { forbiddenSubject, isUnanswered } from './log/append-outcome.ts';
import { CLUSTER_STREAMS, INBOX_PREFIX } from './names.ts';

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
}

// Older servers accept two writers at the same position, or lose whole streams when they are killed.
const MIN_SERVER = [2, 10, 23] as const;

// A dead line is noticed after twice this time; the default of the client is two minutes.
const NATS_PING_MS = 2000;

const RECONNECT_WAIT_MS = 250;

const NATS_CONNECT_MS = 5000;

// How long one read may take.
const NATS_READ_MS = 500;

// How long the end of a connection may take.
const NATS_DRAIN_MS = 2000;

// How long the first connection may take, with the servers starting meanwhile.
const FIRST_CONNECT_MS = 30_000;

/** A cluster that cannot be used; the message names the cause and a remedy, and holds no secret. */
export class ClusterUnusable extends Error {
  override readonly name = 'ClusterUnusable';
}

/** A server that was reached, and that tau must not use. */
export class ServerUnusable extends ClusterUnusable {}

/** Connects and checks the version of the server. Rejects with `ClusterUnusable`. */
export async function connectCluster(address: ClusterAddress, waitMs = FIRST_CONNECT_MS): Promise<ClusterConnection> {
  const nats = await firstConnection(address, waitMs);
  try {
    const version = nats.info?.version ?? '';
    if (isOlder(version)) {
      throw new ServerUnusable(
        `The NATS server is version ${version}. Versions before ${MIN_SERVER.join('.')} can lose data: update it`,
      );
    }
    if (!nats.info?.jetstream)
      throw new ServerUnusable('The NATS server has no JetStream: enable it in its configuration');
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: NATS_CONNECT_MS });
    const reader = await jetstreamManager(nats, { checkAPI: false, timeout: NATS_READ_MS });
    await awaitLeaders(reader);
    return {
      nats,
      reader,
      js: jetstream(nats),
      manager,
      hasBatchReads: !isOlder(version, [2, 11, 0]),
    };
  } catch (error) {
    await nats.close();
    throw error;
  }
}

/** Sends what is in flight, unless the servers are away, and ends the connection. Does not reject. */
export async function disconnect({ nats }: Pick<ClusterConnection, 'nats'>): Promise<void> {
  await withTimeout(NATS_DRAIN_MS, nats.drain(), 'The NATS servers do not respond').catch(() => nats.close());
}

/** Repeats a request while the servers elect a leader. Rejects with `ClusterUnusable` if that takes too long. */
export async function untilAnswered<T>(request: () => Promise<T>, waitMs = FIRST_CONNECT_MS): Promise<T> {
  for (const deadline = performance.now() + waitMs; ; ) {
    try {
      return await request();
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      if (performance.now() > deadline) throw new ClusterUnusable(UNANSWERED);
      await delay(RECONNECT_WAIT_MS);
    }
  }
}

const UNANSWERED = 'The NATS servers do not answer: a majority of them must run and elect a leader';

/** The text of an error of an operation on the cluster: one sentence when the servers have no leader. */
export const clusterErrorText = (error: unknown): string => (isUnanswered(error) ? UNANSWERED : messageOf(error));

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
      await delay(RECONNECT_WAIT_MS);
    }
  }
}

/** Waits until the streams have leaders: servers that have started need some seconds to elect them. */
async function awaitLeaders(reader: JetStreamManager): Promise<void> {
  await untilAnswered(() => Promise.all(CLUSTER_STREAMS.map((name) => checkLeader(reader, name))));
}

async function checkLeader(reader: JetStreamManager, stream: string): Promise<void> {
  try {
    await reader.streams.info(stream);
  } catch (error) {
    throwIfForbidden(error);
    // A stream that does not exist needs no leader.
    if (isUnanswered(error) || !(error instanceof JetStreamApiError)) throw error;
  }
}

/** Rejects an operation that the NATS servers forbid with a sentence. */
export function throwIfForbidden(error: unknown): void {
  const subject = forbiddenSubject(error);
  if (subject === undefined) return;
  throw new ClusterUnusable(
    `The credentials for NATS do not allow ${subject}: see the users in deploy/nats/server.conf`,
  );
}

function connectFailure(error: unknown, servers: readonly string[]): { reason: ClusterUnusable; mayPass: boolean } {
  const text = `${messageOf(error)} ${messageOf((error as Error).cause ?? '')}`;
  const at = servers.join(', ');
  const problem = FAILURES.find(([pattern]) => pattern.test(text))?.[1];
  if (problem) return { reason: new ClusterUnusable(problem(at)), mayPass: false };
  return { reason: new ClusterUnusable(`No NATS server answers at ${at}`), mayPass: true };
}

// The first that matches: errors about certificates speak of signatures too.
const FAILURES: readonly (readonly [text: RegExp, problem: (at: string) => string])[] = [
  [/altname/i, (at) => `The certificate of the NATS server is not for ${at}: use the names in the certificate`],
  [
    /does not support 'tls'/i,
    (at) => `The NATS server at ${at} has no TLS: configure it, or connect without --nats-ca`,
  ],
  [/certificate|self.signed|TLS/i, (at) => `The TLS connection to ${at} failed: check --nats-ca`],
  [/authorization|authentication|nkey|signature/i, (at) => `The NATS server at ${at} rejects the credentials`],
];

function authenticatorOf({ credsFile, nkeyFile }: ClusterAddress) {
  if (credsFile !== undefined) return { authenticator: credsAuthenticator(readCreds(credsFile)) };
  if (nkeyFile === undefined) return {};
  return { authenticator: nkeyAuthenticator(readSeed(nkeyFile)) };
}

function tlsOf({ caFile, servers }: ClusterAddress): { tls?: CheckedTls } {
  if (caFile === undefined && !servers.some((url) => url.startsWith('tls:'))) return {};
  const ca = caFile === undefined ? {} : { ca: new TextDecoder().decode(readFile(caFile)) };
  return { tls: { ...ca, checkServerIdentity } };
}

// The library hands these options on to Node.
interface CheckedTls extends TlsOptions {
  readonly checkServerIdentity: typeof checkServerIdentity;
}

// As Node calls it: on the options of the connection.
interface DialedServer {
  /** Empty for an IP number, as the library connects: Node would check such a certificate for `localhost`. */
  readonly servername?: string;
  readonly socket?: Socket;
}

/** Checks the certificate of a server for the name, or else the IP number, that was connected to. */
function checkServerIdentity(this: DialedServer, _name: string, certificate: PeerCertificate): Error | undefined {
  return checkName(this.servername || (this.socket?.remoteAddress ?? ''), certificate);
}

/** Creates the key of a user of the NATS servers. */
export function newNkey(): { readonly seed: string; readonly publicKey: string } {
  const pair = nkeys.createUser();
  return { seed: new TextDecoder().decode(pair.getSeed()), publicKey: pair.getPublicKey() };
}

// The library reports a malformed file only when a server requires credentials.
const CREDS_SEED = /-+BEGIN USER NKEY SEED-+/;

function readCreds(file: string): Uint8Array {
  const creds = readFile(file);
  if (CREDS_SEED.test(new TextDecoder().decode(creds))) return creds;
  throw new ClusterUnusable(`${file} holds no credentials for NATS`);
}

function readSeed(file: string): Uint8Array {
  const seed = new TextEncoder().encode(new TextDecoder().decode(readFile(file)).trim());
  try {
    nkeys.fromSeed(seed);
  } catch {
    throw new ClusterUnusable(`${file} holds no seed of an nkey`);
  }
  return seed;
}

function readFile(file: string): Uint8Array {
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

/** Whether the NATS servers are connected. A line without answers to pings counts as disconnected. */
export class NatsLiveness {
  #isConnected = true;

  constructor(nats: NatsConnection, onChange: (isConnected: boolean) => void) {
    void this.#follow(nats, onChange);
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  async #follow(nats: NatsConnection, onChange: (isConnected: boolean) => void): Promise<void> {
    for await (const { type } of nats.status()) {
      const isConnected = CHANGES[type];
      if (isConnected === undefined || isConnected === this.#isConnected) continue;
      this.#isConnected = isConnected;
      onChange(isConnected);
    }
  }
}

const CHANGES: Readonly<Record<string, boolean | undefined>> = {
  disconnect: false,
  staleConnection: false,
  reconnect: true,
};
