import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from '../server.mjs';
import { NatsServers } from './nats-servers.mjs';

// Servers of a cluster serve all rounds of a benchmark.
const KILL_AFTER_MS = 900_000;

// The servers of NATS choose a leader before they accept a stream.
const INIT_TRIES = 20;

/** A benchmark of a cluster: for this number of replicas, with NATS servers of its own, which each row states. */
export const onCluster = (benchmark) => (replicas) => ({
  ...benchmark,
  open: (workspace) => BenchCluster.open(workspace, replicas),
  rows: (medians) =>
    benchmark.rows(medians).map((row) => ({ ...row, what: `${row.what} (R${replicas}, sync always)` })),
});

/** NATS servers, nodes, and a server without a cluster to compare with. All of them run until `close`. */
export class BenchCluster {
  nats;
  replicas;
  #workspace;
  #servers = new Set();
  #nodes = 0;

  static async open(workspace, replicas) {
    const cluster = new BenchCluster(workspace, replicas);
    try {
      cluster.nats = await NatsServers.start(replicas);
      await cluster.#createStreams();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  constructor(workspace, replicas) {
    this.#workspace = workspace;
    this.replicas = replicas;
  }

  get nodeArgs() {
    return ['--cluster', this.nats.urls, '--cluster-replicas', String(this.replicas)];
  }

  /** Starts a node with a name and a folder of its own. */
  startNode({ args = [], ...options }) {
    const project = this.#workspace.path('project');
    const identity = ['--node', `node-${++this.#nodes}`, '--cwd', project, '--shared', project];
    return this.#start({ ...options, args: [...this.nodeArgs, ...identity, ...args] });
  }

  /** Starts a server without a cluster. */
  startSingle(options) {
    return this.#start(options);
  }

  async close() {
    await Promise.all([...this.#servers].map((server) => server.stop('SIGTERM')));
    await this.nats?.close();
  }

  async #start(options) {
    const agentDir = mkdtempSync(this.#workspace.path('server-'));
    cpSync(this.#workspace.path('agent/settings.json'), join(agentDir, 'settings.json'));
    const server = await startServer(this.#workspace, { killAfterMs: KILL_AFTER_MS, ...options, agentDir });
    this.#servers.add(server);
    const stop = async (signal) => {
      this.#servers.delete(server);
      await server.stop(signal);
    };
    return { ...server, agentDir, stop };
  }

  async #createStreams() {
    const size = ['--max-bytes', '4G', '--cluster-replicas', String(this.replicas)];
    const args = [this.#workspace.path('dist/tau.cjs'), 'cluster', 'init', this.nats.urls, ...size];
    for (let tries = 1; ; tries++) {
      try {
        await promisify(execFile)(process.execPath, args, { env: this.#workspace.environment });
        return;
      } catch (error) {
        if (tries === INIT_TRIES) throw error;
      }
    }
  }
}
