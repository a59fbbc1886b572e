import { type ClusterConnection, connectCluster } from '../../../src/server/cluster/connection.ts';
import { CLUSTER_STREAMS, LOG_STREAM } from '../../../src/server/cluster/names.ts';
import { createBuckets, createLogStream } from '../../../src/server/cluster/setup.ts';
import { freePort } from '../faults/server-process.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

const SERVERS = 3;
const MAX_BYTES = 256 * 1024 * 1024;

// How long an election may take on a busy machine, and a server to get the records that it missed.
const ELECTION_TIMEOUT_MS = 180_000;
const MAX_LAG_MS = 30_000;
const POLL_MS = 100;

// Servers that are new to each other sometimes find no peers for a stream, and never do: then others are started.
const FIRST_ELECTION_TIMEOUT_MS = 10_000;
const MAX_STARTS = 5;

interface MemberOptions {
  readonly name: string;
  readonly port: number;
  readonly routePort: number;
  readonly routes: readonly string[];
}

/** A server of a NATS cluster; it keeps its port and its data when it starts again. */
export class NatsMember {
  readonly name: string;
  readonly url: string;
  readonly #options: MemberOptions;
  #server: NatsServer | undefined;
  #storeDir: string | undefined;

  constructor(options: MemberOptions) {
    this.name = options.name;
    this.url = `nats://127.0.0.1:${options.port}`;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#server !== undefined;
  }

  async start(): Promise<void> {
    if (this.#server) return;
    const { name, port, routePort, routes } = this.#options;
    // Clients use the addresses that they were given, so that a proxy can be one of them.
    const cluster = `{ name: tau, listen: "127.0.0.1:${routePort}", routes: [${routes.join(', ')}], no_advertise: true }`;
    const config = `server_name: ${name}\ncluster ${cluster}`;
    const storeDir = this.#storeDir === undefined ? {} : { storeDir: this.#storeDir };
    this.#server = await startNatsServer({ config, port, ...storeDir });
    this.#storeDir = this.#server.storeDir;
  }

  /** Ends the process with a signal. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.stop(signal);
  }
}

/** Three servers of one cluster that were not started. */
export async function newMembers(): Promise<NatsMember[]> {
  const ports = await Promise.all(Array.from({ length: SERVERS * 2 }, freePort));
  const routePorts = ports.slice(SERVERS);
  const routes = routePorts.map((port) => `nats://127.0.0.1:${port}`);
  return routePorts.map(
    (routePort, index) => new NatsMember({ name: `n${index + 1}`, port: ports[index] ?? 0, routePort, routes }),
  );
}

/** Three NATS servers on loopback that keep three copies of each record. They run until `stop`. */
export class NatsCluster {
  readonly members: readonly NatsMember[];

  private constructor(members: readonly NatsMember[]) {
    this.members = members;
  }

  /** Settles when the stream and the buckets exist on all servers. */
  static async start(keyLifeMs: number): Promise<NatsCluster> {
    for (let tries = 1; ; tries++) {
      const cluster = new NatsCluster(await newMembers());
      await cluster.startAll();
      try {
        const settings = { replicas: SERVERS, maxBytes: MAX_BYTES };
        await cluster.#untilDone((connection) => createLogStream(connection, settings), FIRST_ELECTION_TIMEOUT_MS);
        await cluster.setKeyLife(keyLifeMs);
        await cluster.whenCurrent();
        return cluster;
      } catch (error) {
        await cluster.stop();
        if (tries === MAX_STARTS) throw error;
      }
    }
  }

  /** Gives the keys of nodes that start from now on this lifetime. */
  async setKeyLife(keyLifeMs: number): Promise<void> {
    await this.#untilDone((connection) => createBuckets(connection, { replicas: SERVERS, keyLifeMs }));
  }

  get urls(): readonly string[] {
    return this.members.map(({ url }) => url);
  }

  async startAll(): Promise<void> {
    await Promise.all(this.members.map((member) => member.start()));
  }

  /** The server that leads a stream. */
  leader(stream = LOG_STREAM): Promise<NatsMember> {
    return this.#untilDone(async ({ manager }) => {
      const { cluster } = await manager.streams.info(stream);
      const leader = this.members.find(({ name }) => name === cluster?.leader);
      if (!leader?.isRunning) throw new Error(`The stream ${stream} has no leader`);
      return leader;
    });
  }

  /**
   * Settles when all running servers have all records of the stream and the buckets; rejects if that takes too long. A
   * server that was killed sometimes never gets what it missed: as an operator would, it is started once more.
   */
  async whenCurrent(timeoutMs = ELECTION_TIMEOUT_MS): Promise<void> {
    for (const deadline = performance.now() + timeoutMs; ; ) {
      const missing = await this.#lagging(Math.min(MAX_LAG_MS, deadline - performance.now()));
      if (!missing) return;
      if (performance.now() > deadline) throw new Error(`Not all servers have all records: ${missing.join(', ')}`);
      for (const member of this.members.filter(({ name, isRunning }) => isRunning && missing.includes(name))) {
        await member.end('SIGTERM');
        await member.start();
      }
    }
  }

  /** The running servers that lack records after this time; undefined as soon as none does. */
  async #lagging(timeoutMs: number): Promise<string[] | undefined> {
    const running = this.members.filter(({ isRunning }) => isRunning).map(({ name }) => name);
    let missing: string[] = [];
    try {
      await this.#untilDone(async ({ manager }) => {
        for (const stream of CLUSTER_STREAMS) {
          const { leader, replicas = [] } = (await manager.streams.info(stream)).cluster ?? {};
          const current = replicas.filter(({ current: isCurrent, offline }) => isCurrent && !offline);
          const known = [leader, ...current.map(({ name }) => name)];
          missing = leader ? running.filter((name) => !known.includes(name)) : [];
          if (!leader || missing.length > 0) throw new Error(`Not all servers have all records of ${stream}`);
        }
      }, timeoutMs);
      return undefined;
    } catch {
      return missing;
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end('SIGKILL')));
  }

  /** Repeats work until it succeeds: the servers reject requests while they elect a leader. */
  async #untilDone<T>(
    work: (connection: ClusterConnection) => Promise<T>,
    timeoutMs = ELECTION_TIMEOUT_MS,
  ): Promise<T> {
    const connection = await connectCluster({ servers: this.urls, name: 'test' });
    try {
      for (const deadline = performance.now() + timeoutMs; ; ) {
        try {
          // A request that is lost in an election is soon given up.
          return await work({ ...connection, manager: connection.reader });
        } catch (error) {
          if (performance.now() > deadline) throw error;
          await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        }
      }
    } finally {
      await connection.nats.close();
    }
  }
}
