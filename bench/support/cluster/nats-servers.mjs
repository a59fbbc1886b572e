import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { build } from 'esbuild';
import { killAtExit } from '../kill-at-exit.mjs';

const SOURCE = join(import.meta.dirname, '../../../test/support/cluster/nats-server.ts');
const LOG_STREAM = 'TAU';

/** NATS servers that sync every record: one, or a cluster of them for as many replicas. */
export class NatsServers {
  #start;
  #servers;
  #connection;

  static async start(replicas) {
    const { startNatsServer } = await loadStarter();
    const start = async (options) => {
      const { stop, ...server } = await startNatsServer(options);
      const forget = killAtExit(server.pid);
      return { ...server, stop: (signal) => stop(signal).finally(forget) };
    };
    if (replicas === 1) return new NatsServers(start, [{ options: {}, server: await start({}) }]);
    const ports = await freePorts(2 * replicas);
    const clients = ports.slice(replicas);
    const routes = ports.slice(0, replicas);
    const options = clients.map((port, index) => ({ port, config: clusterConfig(index, routes) }));
    const servers = await Promise.all(options.map(async (one) => ({ options: one, server: await start(one) })));
    return new NatsServers(start, servers);
  }

  constructor(start, servers) {
    this.#start = start;
    this.#servers = servers;
  }

  get urls() {
    return this.#servers.map(({ server }) => server.url).join(',');
  }

  /** A connection of the benchmark itself. */
  async connection() {
    this.#connection ??= await connect({
      servers: this.#servers.map(({ server }) => server.url),
      inboxPrefix: '_INBOX_tau',
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
    });
    return this.#connection;
  }

  /** Kills the leader of the logs; returns a function that starts it again. */
  async killLeader() {
    const manager = await jetstreamManager(await this.connection(), { checkAPI: false });
    const { cluster } = await manager.streams.info(LOG_STREAM);
    const index = this.#servers.findIndex((_, at) => nameOf(at) === cluster?.leader);
    const { options, server } = this.#servers[index];
    await server.stop('SIGKILL');
    return async () => {
      this.#servers[index] = { options, server: await this.#start({ ...options, storeDir: server.storeDir }) };
    };
  }

  async close() {
    await this.#connection?.close();
    await Promise.all(this.#servers.map(({ server }) => server.stop()));
    for (const { server } of this.#servers) rmSync(server.storeDir, { recursive: true, force: true });
  }
}

const nameOf = (index) => `n${index + 1}`;

const clusterConfig = (index, ports) => `
server_name: ${nameOf(index)}
cluster {
  name: bench
  listen: 127.0.0.1:${ports[index]}
  routes: [${ports.map((port) => `nats://127.0.0.1:${port}`).join(', ')}]
}`;

/** The module with which the tests start servers, and the program that it has cached. */
async function loadStarter() {
  const outfile = join(tmpdir(), `tau-bench-nats-${process.pid}.mjs`);
  await build({
    entryPoints: [SOURCE],
    outfile,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    define: { 'import.meta.dirname': JSON.stringify(dirname(SOURCE)) },
    bundle: true,
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(outfile);
  }
}

/** Ports that were free a moment ago. */
async function freePorts(count) {
  const probes = Array.from({ length: count }, () => createServer());
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.listen(0, '127.0.0.1', resolve))));
  const ports = probes.map((probe) => probe.address().port);
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
}
