import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, onTestFinished } from 'vitest';
import { environment, type Home, isBehindFront, newHome, scriptArgs, TAU, writeSettings } from '../agent/test-agent.ts';
import { RemotePeer } from '../clients/remote-peer.ts';
import { filterAlive, killAll, waitUntil } from '../processes/processes.ts';
import { startTauInTerminal, type TerminalOptions, type TerminalProgram } from '../processes/terminal.ts';

/** A test that does not run behind a front node; the reason names what such a node cannot have. */
export const itOnOneServer = (_reason: string) => (isBehindFront ? it.skip : it);

/** The owner's token of every server under test. */
export const OWNER_TOKEN = 'token-of-the-owner';

export interface ServerOptions {
  /** Responses of each agent's scripted model. */
  script?: readonly object[];
  /** Further arguments of the server. */
  args?: readonly string[];
  /** Further arguments of the agents. */
  agentArgs?: readonly string[];
  env?: Record<string, string>;
  /** Reuses the home of an earlier server. */
  home?: Home;
  settings?: object;
  /** Content of the token file: grants by token. */
  tokens?: Record<string, object>;
}

/** Query parameters of a connection. */
export type ConnectQuery = Readonly<Record<string, string | number>>;

/** A `tau serve` process under test. */
export interface TestServer {
  readonly home: Home;
  readonly pid: number;
  readonly loginLink: string;
  /** Address for WebSockets, without a token. */
  readonly url: string;
  readonly stderr: () => string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Connects a client, with the owner's token unless the query has another. */
  readonly connect: (query?: ConnectQuery) => RemotePeer;
  /** Connects a client and waits for its first snapshot. */
  readonly attach: (query?: ConnectQuery) => Promise<RemotePeer>;
  /** Sends an HTTP request with the owner's token. */
  readonly get: (path: string) => Promise<Response>;
  /** Every agent ever started, in order. */
  readonly agents: () => StartedAgent[];
  /** Kills the agent started last with SIGKILL. */
  readonly killAgent: () => void;
}

export interface StartedAgent {
  readonly pid: number;
  readonly args: string;
}

/** Starts `tau serve` on a free port. The server, its agents and its clients end with the test. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const home = options.home ?? newHome();
  if (options.settings) writeSettings(home, options.settings);
  const startedList = join(home.root, 'agents');
  const args = [
    '--port',
    '0',
    '--agent-command',
    recordingAgentCommand(home, startedList, options),
    ...tokenArgs(home, options),
    ...(options.args ?? []),
  ];
  const start = (given: readonly string[], env = {}) => startProcess(home, given, { ...options.env, ...env });
  const { front, serving } = isBehindFront
    ? await (await import('../cluster/behind-front.ts')).startBehindFront({ home, args }, start)
    : await start(args).then((process) => ({ front: process, serving: process }));
  const processes = new Set([serving, front]);
  const agents = () => readStartedAgents(startedList);
  onTestFinished(async () => {
    for (const process of processes) process.kill('SIGKILL');
    const pids = agents().map(({ pid }) => pid);
    try {
      await waitUntil(async () => (await filterAlive(pids)).length === 0);
    } finally {
      await killAll(pids);
    }
  });
  const { loginLink, url } = front;
  const connect = (query: ConnectQuery = {}) => {
    const address = new URL(url);
    for (const [name, value] of Object.entries({ token: OWNER_TOKEN, ...query }))
      address.searchParams.set(name, String(value));
    return new RemotePeer(address.href);
  };
  return {
    home,
    pid: serving.pid,
    loginLink,
    url,
    stderr: () => [...processes].map(({ stderr }) => stderr()).join(''),
    exited: Promise.all([...processes].map(({ exited }) => exited)).then(() => front.exited),
    kill: (signal) => {
      for (const process of processes) process.kill(signal);
    },
    connect,
    attach: async (query) => {
      const peer = connect(query);
      await peer.next('state_synced');
      return peer;
    },
    get: (path) =>
      fetch(new URL(path, url.replace(/^ws/, 'http')), { headers: { authorization: `Bearer ${OWNER_TOKEN}` } }),
    agents,
    killAgent: () => void process.kill(agents().at(-1)?.pid ?? Number.NaN, 'SIGKILL'),
  };
}

/** A process of `tau serve`. It ends with the test. */
interface ServerProcess extends Pick<TestServer, 'pid' | 'loginLink' | 'url' | 'stderr' | 'exited' | 'kill'> {}

async function startProcess(home: Home, args: readonly string[], env: Record<string, string>): Promise<ServerProcess> {
  const child = spawn(process.execPath, [TAU, 'serve', ...args], {
    cwd: home.cwd,
    env: environment(home, { PI_AUTH_TOKEN: OWNER_TOKEN, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const [loginLink = '', url = ''] = await firstTwoLines(child.stdout, exited, () => stderr);
  return {
    pid: child.pid ?? -1,
    loginLink,
    url,
    stderr: () => stderr,
    exited,
    kill: (signal) => void child.kill(signal),
  };
}

/** A command that starts an agent and logs its pid and arguments. */
function recordingAgentCommand(home: Home, list: string, { agentArgs = [], script }: ServerOptions): string {
  const path = join(home.root, `agent-${Math.random().toString(36).slice(2)}.sh`);
  const agentCommand = [process.execPath, TAU, ...agentArgs, ...scriptArgs(home, script)]
    .map((word) => `'${word}'`)
    .join(' ');
  writeFileSync(path, `#!/bin/sh\necho "$$ $*" >> '${list}'\nexec ${agentCommand} "$@"\n`);
  chmodSync(path, 0o755);
  return `'${path}'`;
}

function tokenArgs(home: Home, { tokens }: ServerOptions): string[] {
  if (!tokens) return [];
  const path = join(home.root, 'tokens.json');
  writeFileSync(path, JSON.stringify({ tokens }), { mode: 0o600 });
  return ['--tokens', path];
}

function readStartedAgents(list: string): StartedAgent[] {
  try {
    const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), args: line.slice(line.indexOf(' ') + 1) }));
  } catch {
    return [];
  }
}

/** The two lines that a server prints when it accepts clients. */
async function firstTwoLines(
  stdout: NodeJS.ReadableStream,
  exited: Promise<unknown>,
  stderr: () => string,
): Promise<string[]> {
  let text = '';
  return new Promise((resolve, reject) => {
    stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const lines = text.split('\n');
      if (lines.length > 2) resolve(lines);
    });
    void exited.then(() => reject(new Error(`The server ended before it listened: ${stderr()}`)));
  });
}

/** A server that also listens on a Unix socket. */
export interface SocketServer extends TestServer {
  readonly socketPath: string;
  /** Runs `tau attach` over the Unix socket, in a terminal. */
  readonly attachInTerminal: (args?: readonly string[], options?: TerminalOptions) => TerminalProgram;
}

/** Starts a server on a Unix socket whose path needs escaping in URLs. */
export async function startServerOnSocket(options: ServerOptions = {}): Promise<SocketServer> {
  const home = options.home ?? newHome();
  const socketPath = join(home.root, 'a b:c?.sock');
  const server = await startServer({ ...options, home, args: ['--socket', socketPath, ...(options.args ?? [])] });
  const attachInTerminal = (args: readonly string[] = [], terminal: TerminalOptions = {}) =>
    startTauInTerminal(home, ['attach', '--socket', socketPath, ...args], terminal);
  return { ...server, socketPath, attachInTerminal };
}
