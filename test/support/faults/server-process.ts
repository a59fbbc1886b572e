import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ProcessRow, TAG_VARIABLE } from '../../../src/system/processes/process-table.ts';
import { environment, type Home, TAU } from '../agent/test-agent.ts';
import { agentsOf, taggedDescendants } from '../processes/processes.ts';

export const TOKEN = 'a-token-for-faults';

// Below the ephemeral ports: a client that reconnects to its own ephemeral port would connect to itself.
const LOWEST_PORT = 20_000;
const PORTS = 10_000;

interface FaultServerOptions {
  readonly port: number;
  /** Further arguments of the agents. */
  readonly agentArgs: readonly string[];
  readonly allowHosts: readonly string[];
}

/** A server process that can be killed and restarted on the same port with the same files. */
export class ServerProcess {
  readonly port: number;
  readonly #home: Home;
  readonly #args: readonly string[];
  /** In the environment of the server and all its descendants. */
  readonly #tag: string;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #stderr = '';

  private constructor(home: Home, { port, agentArgs, allowHosts }: FaultServerOptions) {
    this.#home = home;
    this.port = port;
    const agent = [process.execPath, TAU, ...agentArgs].map((word) => `'${word}'`).join(' ');
    const hosts = allowHosts.flatMap((host) => ['--allow-host', host]);
    const locationArgs = ['--port', String(port), '--cwd', home.cwd];
    // Clients detect a dead connection within 15 s.
    this.#args = ['serve', ...locationArgs, '--ping-seconds', '5', '--agent-command', agent, ...hosts];
    this.#tag = `faults-${process.pid}-${port}-${Date.now()}`;
    onTestFinished(async () => {
      this.signal('SIGKILL');
      await this.#exited;
    });
  }

  static async start(home: Home, options: FaultServerOptions): Promise<ServerProcess> {
    const server = new ServerProcess(home, options);
    await server.start();
    return server;
  }

  /** Settles when the server accepts clients. */
  async start(): Promise<void> {
    const env = environment(this.#home, { PI_AUTH_TOKEN: TOKEN, [TAG_VARIABLE]: this.#tag });
    const child = spawn(process.execPath, [TAU, ...this.#args], { cwd: this.#home.cwd, env, stdio: 'pipe' });
    this.#child = child;
    this.#exited = once(child, 'close');
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    const ended = this.#exited.then(() => {
      throw new Error(`The server ended: ${this.#stderr}`);
    });
    await Promise.race([once(child.stdout, 'data'), ended]);
    ended.catch(() => {});
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  /** Ends the server and returns its exit code or signal. */
  async end(signal: NodeJS.Signals): Promise<unknown> {
    this.signal(signal);
    await this.#exited;
    return this.#child?.exitCode ?? this.#child?.signalCode;
  }

  /** Kills the server and starts it again. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    await this.start();
  }

  /** Its running agents. */
  agents(): Promise<ProcessRow[]> {
    return agentsOf(this.#tag, this.#child?.pid ?? 0);
  }

  /** The server and all its running descendants. */
  async descendants(): Promise<number[]> {
    return (await taggedDescendants(this.#tag)).map(({ pid }) => pid);
  }
}

/** Finds a free port outside the ephemeral range. */
export async function freePort(): Promise<number> {
  while (true) {
    const port = LOWEST_PORT + Math.floor(Math.random() * PORTS);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (isFree) return port;
  }
}
