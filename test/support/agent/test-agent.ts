import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { engineOptions } from '../../../src/cli/engine-options.ts';
import { parseFlags } from '../../../src/cli/flags/parse-flags.ts';
import { openEngine } from '../../../src/engine/open.ts';
import { LineReader, MAX_RECORD_BYTES } from '../../../src/wire/json-lines.ts';
import type { Link } from '../../../src/wire/link.ts';
import { memoryPair } from '../../../src/wire/memory.ts';
import { socketLink } from '../../../src/wire/socket.node.ts';
import { Peer } from '../clients/peer.ts';
import { untilNextPoll } from '../processes/poll.ts';
import { openOverWebSocket } from './websocket-agent.ts';

/**
 * Whether each server under test is a cluster of two nodes: one serves the sessions, and clients connect to the other one,
 * which serves none. `TAU_TEST_CLUSTER=front` chooses that.
 */
export const isBehindFront = process.env['TAU_TEST_CLUSTER'] === 'front';

export type Transport = 'stdio' | 'unix' | 'memory' | 'websocket';

/** Path of the built program. */
export const TAU = join(import.meta.dirname, '../../../dist/tau.cjs');

export interface OpenOptions {
  /** Responses of the scripted model, in order; without them the model converses. */
  script?: readonly object[];
  /** Further arguments after `--mode rpc`; in memory they are parsed the same way. */
  args?: readonly string[];
  env?: Record<string, string>;
  /** Reuses the home of an earlier agent. */
  home?: Home;
  /** Written to settings.json; without `NO_RETRY` a failed model call is retried. */
  settings?: object;
  /** A program and its arguments that start the agent's process. */
  wrapper?: readonly string[];
  /** Accepts fields of other programs in records, because the session file has them. */
  hasForeignFields?: boolean;
}

/** Settings that end a run at the first failed model call. */
export const NO_RETRY = { retry: { enabled: false } };

/** The folders of one user, removed after the test. */
export interface Home {
  readonly root: string;
  readonly cwd: string;
  readonly agentDir: string;
}

export function newHome(): Home {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tau-test-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = { root, cwd: join(root, 'project'), agentDir: join(root, 'agent') };
  mkdirSync(home.cwd);
  return home;
}

export const writeSettings = (home: Home, settings: object): void =>
  writeUserFile(home, 'settings.json', JSON.stringify(settings));

/** Writes a file of the agent folder. */
export function writeUserFile({ agentDir }: Home, name: string, text: string): void {
  mkdirSync(agentDir, { recursive: true });
  writeFileSync(join(agentDir, name), text);
}

/** An agent under test and its first client. */
export interface TestAgent {
  readonly peer: Peer;
  readonly home: Home;
  readonly transport: Transport;
  /** Path of the Unix socket. */
  readonly socketPath?: string;
  /** Undefined in memory and behind a server. */
  readonly process: AgentProcess | undefined;
  /** All session files, sorted by name, oldest first. */
  readonly sessionFiles: () => string[];
  /** Ends the agent gracefully. */
  readonly close: () => Promise<void>;
  /** Connects a further client; only in memory and behind a server. */
  readonly join?: () => Peer;
}

export interface AgentProcess {
  readonly pid: number;
  readonly stderr: () => string;
  readonly stdout: () => string;
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly endInput: () => void;
  readonly kill: (signal: NodeJS.Signals) => void;
}

/** Opens an agent over a transport. The agent and its files are removed after the test. */
export async function openTestAgent(transport: Transport, options: OpenOptions = {}): Promise<TestAgent> {
  const home = options.home ?? newHome();
  if (options.settings) writeSettings(home, options.settings);
  const args = [...(options.args ?? []), ...scriptArgs(home, options.script)];
  if (transport === 'memory') return openOverMemory(home, args, options);
  if (transport === 'stdio') return openOverStdio(home, args, options);
  if (transport === 'websocket') return openOverWebSocket(home, args, options);
  return openOverUnixSocket(home, args, options);
}

async function openOverMemory(home: Home, args: string[], options: OpenOptions): Promise<TestAgent> {
  const env = environment(home, options.env);
  const settings = await withFolderAndEnvironment(home.cwd, env, () =>
    engineOptions(parseFlags(['--mode', 'rpc', ...args])),
  );
  const engine = await openEngine({ ...settings, env });
  const join = () => {
    const [inside, outside] = memoryPair();
    const peer = new Peer(outside, options);
    engine.connect(inside);
    return peer;
  };
  const close = () => engine.close();
  onTestFinished(close);
  const files = () => sessionFiles(home);
  return { peer: join(), home, transport: 'memory', process: undefined, sessionFiles: files, close, join };
}

async function openOverStdio(home: Home, args: string[], options: OpenOptions): Promise<TestAgent> {
  const { process, link } = startAgentProcess(home, args, options);
  const peer = new Peer(link, options);
  const close = async () => {
    process.endInput();
    await process.exited;
  };
  return { peer, home, transport: 'stdio', process, sessionFiles: () => sessionFiles(home), close };
}

async function openOverUnixSocket(home: Home, args: string[], options: OpenOptions): Promise<TestAgent> {
  const path = join(home.root, `${Math.random().toString(36).slice(2)}.sock`);
  const { process } = startAgentProcess(home, ['--socket', path, ...args], options);
  const link = await Promise.race([
    connectWhenListening(path),
    process.exited.then((exit) => {
      throw new Error(`tau ended before it listened: ${JSON.stringify(exit)} ${process.stderr()}`);
    }),
  ]);
  const peer = new Peer(link, options);
  const close = async () => {
    process.kill('SIGTERM');
    await process.exited;
  };
  return { peer, home, transport: 'unix', socketPath: path, process, sessionFiles: () => sessionFiles(home), close };
}

/** Connects as soon as a process listens on the Unix socket. */
export async function connectWhenListening(path: string): Promise<Link> {
  while (true) {
    const socket = connect({ path, allowHalfOpen: true });
    const isConnected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (isConnected) return socketLink(socket, MAX_RECORD_BYTES);
    await untilNextPoll();
  }
}

/** Starts the built program as a child process. */
export function startAgentProcess(
  home: Home,
  args: readonly string[],
  options: OpenOptions = {},
): { process: AgentProcess; link: Link } {
  const [program = '', ...words] = [...(options.wrapper ?? []), process.execPath, TAU, '--mode', 'rpc', ...args];
  const child = spawn(program, words, {
    cwd: home.cwd,
    env: environment(home, options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  let stdout = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal })),
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const reader = new LineReader(MAX_RECORD_BYTES);
  const link: Link = {
    write: (text) => child.stdin.write(text),
    onDrain: (listener) => void child.stdin.on('drain', listener),
    flush: () => new Promise((resolve) => child.stdin.write('', () => resolve())),
    onLine: (listener) =>
      void child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString();
        reader.push(chunk).forEach(listener);
      }),
    onEnd: (listener) => void child.stdout.on('end', listener),
    onClose: (listener) => void child.once('close', listener),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    close: () => void child.stdin.end(),
  };
  const agent: AgentProcess = {
    pid: child.pid ?? -1,
    stderr: () => stderr,
    stdout: () => stdout,
    exited,
    endInput: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
  };
  return { process: agent, link };
}

export function environment(home: Home, more: Record<string, string> = {}): Record<string, string> {
  const { PATH = '' } = process.env;
  return { PATH, HOME: home.root, PI_CODING_AGENT_DIR: home.agentDir, LANG: 'C.UTF-8', ...more };
}

export function sessionFiles({ agentDir }: Home): string[] {
  const folder = join(agentDir, isBehindFront ? 'server/cluster/sessions' : 'sessions');
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** The parsed lines of a session file. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is stored
export const readSessionFile = (path: string): any[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

export function scriptArgs(home: Home, script: readonly object[] | undefined): string[] {
  if (!script) return [];
  const path = join(home.root, `script-${Math.random().toString(36).slice(2)}.jsonl`);
  writeFileSync(path, script.map((response) => `${JSON.stringify(response)}\n`).join(''));
  return ['--script', path];
}

let lastSwitch: Promise<unknown> = Promise.resolve();

/** Runs `work` with another current folder and environment of the process; one call at a time. */
function withFolderAndEnvironment<T>(cwd: string, env: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const done = lastSwitch.then(async () => {
    const before = { cwd: process.cwd(), env: process.env };
    process.chdir(cwd);
    process.env = env;
    try {
      return await work();
    } finally {
      process.chdir(before.cwd);
      process.env = before.env;
    }
  });
  lastSwitch = done.catch(() => {});
  return done;
}

/** A gate that holds a scripted response until it opens: put `{ await: gate.path }` into its steps. */
export function newGate(): { path: string; open: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'tau-gate-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'open');
  return { path, open: () => writeFileSync(path, '') };
}
