import { type Home, newHome } from '../agent/test-agent.ts';
import { FaultyProxy } from '../faults/faulty-proxy.ts';
import { freePort } from '../faults/server-process.ts';
import { type FaultyNode, startFaultyNode } from './faulty-node.ts';

interface DisturbedNodeOptions {
  /** The addresses of the NATS servers. */
  readonly servers: readonly string[];
  readonly cwd: string;
  readonly script: readonly object[];
  /** Further arguments of the server. */
  readonly args: readonly string[];
}

/** A node that keeps its name, port and files over restarts, and reaches the NATS servers through proxies only. */
export class DisturbedNode {
  readonly name: string;
  readonly port: number;
  readonly home: Home;
  readonly #proxies: readonly FaultyProxy[];
  readonly #options: DisturbedNodeOptions;
  readonly #ended: FaultyNode[] = [];
  #node: FaultyNode | undefined;

  private constructor(name: string, port: number, proxies: readonly FaultyProxy[], options: DisturbedNodeOptions) {
    this.name = name;
    this.port = port;
    this.home = newHome();
    this.#proxies = proxies;
    this.#options = options;
  }

  static async start(name: string, options: DisturbedNodeOptions): Promise<DisturbedNode> {
    const proxies = await Promise.all(options.servers.map((url) => FaultyProxy.to(Number(new URL(url).port))));
    const node = new DisturbedNode(name, await freePort(), proxies, options);
    await node.start();
    return node;
  }

  async start(): Promise<void> {
    const { cwd, script, args } = this.#options;
    const urls = this.#proxies.map(({ port }) => `nats://127.0.0.1:${port}`).join();
    this.#node = await startFaultyNode(urls, this.name, { home: this.home, port: this.port, cwd, script, args });
  }

  /** Kills the server, but not its agents, and starts it again. */
  async restart(): Promise<void> {
    this.#running.kill();
    this.#ended.push(this.#running);
    await this.start();
  }

  /** Ends the server with SIGTERM and starts it again. */
  async drain(): Promise<void> {
    await this.#running.stop();
    this.#ended.push(this.#running);
    await this.start();
  }

  async killAgents(): Promise<void> {
    for (const { pid } of await this.#running.agents()) process.kill(pid, 'SIGKILL');
  }

  /** Stops the server with all its descendants. */
  async pause(pause: Promise<void>): Promise<void> {
    await this.#running.signalAll('SIGSTOP');
    await pause;
    await this.#running.signalAll('SIGCONT');
  }

  /** Swallows all bytes between the node and the NATS servers. */
  async cutOff(pause: Promise<void>): Promise<void> {
    for (const proxy of this.#proxies) proxy.swallow();
    await pause;
    for (const proxy of this.#proxies) proxy.recover();
  }

  /** Settles when nothing runs of the processes that were ended. */
  async whenClean(): Promise<void> {
    for (const node of this.#ended.splice(0)) await node.ended();
  }

  get #running(): FaultyNode {
    if (!this.#node) throw new Error(`Node ${this.name} does not run`);
    return this.#node;
  }
}
