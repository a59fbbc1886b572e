import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { engineOptions } from '../../src/cli/engine-options.ts';
import { parseFlags } from '../../src/cli/flags/parse-flags.ts';
import { openEngine } from '../../src/engine/open.ts';
import { LineReader, MAX_RECORD_BYTES } from '../../src/wire/json-lines.ts';
import type { Link } from '../../src/wire/link.ts';
import { memoryPair } from '../../src/wire/memory.ts';
import { socketLink } from '../../src/wire/socket.node.ts';
import { Peer } from './peer.ts';
import { openServed } from './served.ts';

export type Transport = 'stdio' | 'unix' | 'memory' | 'websocket';

/** The program under test, as it is published. */
export const TAU = join(import.meta.dirname, '../../dist/tau.cjs');

export interface OpenOptions {
  /** Answers of the scripted model, in order; without it the model converses. */
  script?: readonly object[];
  /** More arguments after `--mode rpc`; for memory, what the command line would make of them. */
  args?: readonly string[];
  env?: Record<string, string>;
  /** A home to come back to: the `home` of an earlier one. */
  home?: Home;
  /** What the user has set; a failure is tried again, as for everybody, unless this says otherwise. */
  settings?: object;
  /** The session files hold fields of other programs. */
  foreign?: boolean;
}

/** Settings of a user for whom a failure is the end. */
export const NO_RETRY = { retry: { enabled: false } };

/** Folders of one imaginary user, gone after the test. */
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

/** Writes the settings of this user. */
export function setUp({ agentDir }: Home, settings: object): void {
  mkdirSync(agentDir, { recursive: true });
  writeFileSync(join(agentDir, 'settings.json'), JSON.stringify(settings));
}

/** An agent under test and a client that speaks to it. */
export interface TestAgent {
  readonly peer: Peer;
  readonly home: Home;
  readonly transport: Transport;
  /** Where clients come, over a Unix socket. */
  readonly socketPath?: string;
  /** Undefined in memory and behind a server. */
  readonly process: AgentProcess | undefined;
  /** Every session file, oldest name first. */
  readonly sessionFiles: () => string[];
  /** Ends the agent in the ordinary way. */
  readonly close: () => Promise<void>;
  /** Another client beside the first; only in memory and behind a server. */
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

/** Opens an agent. It and everything it made is gone after the test. */
export async function open(transport: Transport, options: OpenOptions = {}): Promise<TestAgent> {
  const home = options.home ?? newHome();
  if (options.settings) setUp(home, options.settings);
  const args = [...(options.args ?? []), ...scriptArgs(home, options.script)];
  if (transport === 'memory') return openInMemory(home, args, options);
  if (transport === 'stdio') return openStdio(home, args, options);
  if (transport === 'websocket') return openServed(home, args, options);
  return openUnix(home, args, options);
}

async function openInMemory(home: Home, args: string[], options: OpenOptions): Promise<TestAgent> {
  const env = environment(home, options.env);
  const settings = await inFolder(home.cwd, env, () => engineOptions(parseFlags(['--mode', 'rpc', ...args])));
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

async function openStdio(home: Home, args: string[], options: OpenOptions): Promise<TestAgent> {
  const { process, link } = start(home, args, options);
  const peer = new Peer(link, options);
  const close = async () => {
    process.endInput();
    await process.exited;
  };
  return { peer, home, transport: 'stdio', process, sessionFiles: () => sessionFiles(home), close };
}

async function openUnix(home: Home, args: string[], options: OpenOptions): Promise<TestAgent> {
  const path = join(home.root, `${Math.random().toString(36).slice(2)}.sock`);
  const { process } = start(home, ['--socket', path, ...args], options);
  const link = await Promise.race([
    connected(path),
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

/** Connects as soon as somebody listens. */
export async function connected(path: string): Promise<Link> {
  while (true) {
    const socket = connect({ path, allowHalfOpen: true });
    const ok = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    if (ok) return socketLink(socket, MAX_RECORD_BYTES);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Starts the published program as a child. */
export function start(
  home: Home,
  args: readonly string[],
  options: OpenOptions = {},
): { process: AgentProcess; link: Link } {
  const child = spawn(process.execPath, [TAU, '--mode', 'rpc', ...args], {
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
  try {
    return readdirSync(join(agentDir, 'sessions'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .map((name) => join(agentDir, 'sessions', name));
  } catch {
    return [];
  }
}

/** The lines of a session file, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever is stored
export const stored = (path: string): any[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

export function scriptArgs(home: Home, script: readonly object[] | undefined): string[] {
  if (!script) return [];
  const path = join(home.root, `script-${Math.random().toString(36).slice(2)}.jsonl`);
  writeFileSync(path, script.map((answer) => `${JSON.stringify(answer)}\n`).join(''));
  return ['--script', path];
}

/** What the command line makes of a folder and an environment that are not this process's own. */
async function inFolder<T>(cwd: string, env: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before = { cwd: process.cwd(), env: process.env };
  process.chdir(cwd);
  process.env = env;
  try {
    return await work();
  } finally {
    process.chdir(before.cwd);
    process.env = before.env;
  }
}

/** Holds a scripted answer until it is opened: put `{ await: gate.path }` into its steps. */
export function newGate(): { path: string; open: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'tau-gate-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'open');
  return { path, open: () => writeFileSync(path, '') };
}
