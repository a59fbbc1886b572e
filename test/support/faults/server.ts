import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  isSameProcess,
  listProcesses,
  type ProcessRow,
  TAG_VARIABLE,
} from '../../../src/system/processes/process-table.ts';
import { environment, type Home, TAU } from '../open.ts';

export const TOKEN = 'a-token-for-faults';

/** Below those that the system gives to connections: a client that finds nobody there must not find itself. */
const LOWEST_PORT = 20_000;
const PORTS = 10_000;

interface ServerOptions {
  readonly port: number;
  /** What the agents are started with. */
  readonly agentArgs: readonly string[];
  readonly allowHosts: readonly string[];
}

/** A server that can be killed and comes back at the same place, with the same files. */
export class ServerProcess {
  readonly port: number;
  readonly #home: Home;
  readonly #args: readonly string[];
  /** Everything that comes from here carries it. */
  readonly #mark: string;
  #child: ChildProcess | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #stderr = '';

  private constructor(home: Home, { port, agentArgs, allowHosts }: ServerOptions) {
    this.#home = home;
    this.port = port;
    const agent = [process.execPath, TAU, ...agentArgs].map((word) => `'${word}'`).join(' ');
    const hosts = allowHosts.flatMap((host) => ['--allow-host', host]);
    const place = ['--port', String(port), '--cwd', home.cwd];
    // Clients notice a line that went deaf within 15 s.
    this.#args = ['serve', ...place, '--ping-seconds', '5', '--agent-command', agent, ...hosts];
    this.#mark = `faults-${process.pid}-${port}-${Date.now()}`;
    onTestFinished(async () => {
      this.signal('SIGKILL');
      await this.#exited;
    });
  }

  static async start(home: Home, options: ServerOptions): Promise<ServerProcess> {
    const server = new ServerProcess(home, options);
    await server.start();
    return server;
  }

  /** Settles when it takes clients. */
  async start(): Promise<void> {
    const env = environment(this.#home, { PI_AUTH_TOKEN: TOKEN, [TAG_VARIABLE]: this.#mark });
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

  /** Settles to how it ended. */
  async end(signal: NodeJS.Signals): Promise<unknown> {
    this.signal(signal);
    await this.#exited;
    return this.#child?.exitCode ?? this.#child?.signalCode;
  }

  /** Dies, and comes back. */
  async restart(): Promise<void> {
    await this.end('SIGKILL');
    await this.start();
  }

  /** Its agents that live now. */
  async agents(): Promise<ProcessRow[]> {
    const own = `${this.#mark}/${this.#child?.pid?.toString(36)}-`;
    const rows = (await listProcesses()).filter(({ tag: mark }) => mark?.startsWith(own));
    return rows.filter(({ pid }) => cmdlineOf(pid).includes('\0--mode\0rpc\0'));
  }

  /** Everything that lives and comes from here, the server included. Guardians have no environment, but know whose they are. */
  async family(): Promise<number[]> {
    const isOurs = ({ pid, tag: mark }: ProcessRow) =>
      mark?.startsWith(this.#mark) || cmdlineOf(pid).includes(`\0${TAG_VARIABLE}=${this.#mark}/`);
    return (await listProcesses()).filter(isOurs).map(({ pid }) => pid);
  }
}

/** Sends a signal to a process, if it is still the same. */
export function signalTo(row: ProcessRow, signal: NodeJS.Signals): void {
  if (isSameProcess(row)) process.kill(row.pid, signal);
}

function cmdlineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** A port that nobody else uses, and that no connection gets by chance. */
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
