import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { environment, type Home, newHome, scriptArgs, setUp, TAU } from './open.ts';
import { killAll, living, until } from './processes.ts';
import { RemotePeer } from './remote-peer.ts';

/** The token of the owner of every server under test. */
export const TOKEN = 'token-of-the-owner';

export interface ServerOptions {
  /** Answers of the scripted model; each agent begins with the first. */
  script?: readonly object[];
  /** More arguments of the server. */
  args?: readonly string[];
  /** More arguments of its agents. */
  agentArgs?: readonly string[];
  env?: Record<string, string>;
  /** A home to come back to: the `home` of an earlier one. */
  home?: Home;
  settings?: object;
  /** What the simple token file holds: tokens and what is said of them. */
  tokens?: Record<string, object>;
}

/** What is asked for in the address of a session. */
export type Query = Readonly<Record<string, string | number>>;

/** A server under test. */
export interface TestServer {
  readonly home: Home;
  readonly pid: number;
  /** The address that lets a browser in. */
  readonly loginLink: string;
  /** Where sockets are, without a token. */
  readonly url: string;
  readonly stderr: () => string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** A client, in the name of the owner unless the query has another token. */
  readonly connect: (query?: Query) => RemotePeer;
  /** A client that has been told where it is and what was said there. */
  readonly attach: (query?: Query) => Promise<RemotePeer>;
  /** A request over HTTP, in the name of the owner. */
  readonly get: (path: string) => Promise<Response>;
  /** Every agent that was ever started, the latest last. */
  readonly agents: () => Agent[];
  /** Kills the agent that was started last, without a warning. */
  readonly killAgent: () => void;
}

export interface Agent {
  readonly pid: number;
  readonly args: string;
}

/** Starts `tau serve` on a free port. It, its agents and its clients are gone after the test. */
export async function serve(options: ServerOptions = {}): Promise<TestServer> {
  const home = options.home ?? newHome();
  if (options.settings) setUp(home, options.settings);
  const started = join(home.root, 'agents');
  const args = [
    'serve',
    '--port',
    '0',
    '--agent-command',
    notingCommand(home, started, options),
    ...tokenArgs(home, options),
  ];
  const child = spawn(process.execPath, [TAU, ...args, ...(options.args ?? [])], {
    cwd: home.cwd,
    env: environment(home, { PI_AUTH_TOKEN: TOKEN, ...options.env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  const agents = () => readAgents(started);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    const pids = agents().map(({ pid }) => pid);
    try {
      await until(async () => (await living(pids)).length === 0);
    } finally {
      await killAll(pids);
    }
  });
  const [loginLink = '', url = ''] = await twoLines(child.stdout, exited, () => stderr);
  const connect = (query: Query = {}) => {
    const address = new URL(url);
    for (const [name, value] of Object.entries({ token: TOKEN, ...query }))
      address.searchParams.set(name, String(value));
    return new RemotePeer(address.href);
  };
  return {
    home,
    pid: child.pid ?? -1,
    loginLink,
    url,
    stderr: () => stderr,
    exited,
    kill: (signal) => void child.kill(signal),
    connect,
    attach: async (query) => {
      const peer = connect(query);
      await peer.next('state_synced');
      return peer;
    },
    get: (path) => fetch(new URL(path, url.replace(/^ws/, 'http')), { headers: { authorization: `Bearer ${TOKEN}` } }),
    agents,
    killAgent: () => void process.kill(agents().at(-1)?.pid ?? Number.NaN, 'SIGKILL'),
  };
}

/** Starts agents in the ordinary way, but writes down which. */
function notingCommand(home: Home, list: string, { agentArgs = [], script }: ServerOptions): string {
  const path = join(home.root, `agent-${Math.random().toString(36).slice(2)}.sh`);
  const words = [process.execPath, TAU, ...agentArgs, ...scriptArgs(home, script)].map((word) => `'${word}'`).join(' ');
  writeFileSync(path, `#!/bin/sh\necho "$$ $*" >> '${list}'\nexec ${words} "$@"\n`);
  chmodSync(path, 0o755);
  return `'${path}'`;
}

function tokenArgs(home: Home, { tokens }: ServerOptions): string[] {
  if (!tokens) return [];
  const path = join(home.root, 'tokens.json');
  writeFileSync(path, JSON.stringify({ tokens }), { mode: 0o600 });
  return ['--tokens', path];
}

function readAgents(list: string): Agent[] {
  try {
    const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), args: line.slice(line.indexOf(' ') + 1) }));
  } catch {
    return [];
  }
}

/** What a server says when it accepts. */
async function twoLines(
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
