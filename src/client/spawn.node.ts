/// <reference types="node" preserve="true" />
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { LineReader, MAX_RECORD_BYTES } from '../wire/json-lines.ts';
import type { Link } from '../wire/link.ts';
import { connectUnix } from '../wire/socket.node.ts';
import { AgentClient } from './agent-client.ts';
import type { RequestedApprovals } from './remote/initial-approvals.ts';

export { connectRemote } from './remote/connect-remote.node.ts';
export type { RemoteOptions, RemoteSession } from './remote/remote-session.ts';

/** How to start an agent as a child process. */
export interface SpawnAgentOptions {
  /** Defaults to the program of this package. */
  readonly command?: string;
  /** Arguments after `--mode rpc --stream delta`. */
  readonly args?: readonly string[];
  /** The approval mode and the sandbox, as the flags: an agent that cannot have them exits instead. */
  readonly approvals?: RequestedApprovals;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface SpawnedAgent {
  readonly client: AgentClient;
  readonly pid: number | undefined;
  /** The last 64 KiB of its stderr. */
  readonly stderr: () => string;
  /** Resolves when the process has ended. */
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Closes stdin: the agent finishes what it accepted and exits. Resolves when it has. */
  readonly close: () => Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly kill: (signal?: NodeJS.Signals) => void;
}

const KEPT_STDERR_CHARACTERS = 64 * 1024;

/** Starts an agent, in delta form unless the arguments choose another. Commands may be sent at once. */
export function spawnAgent(options: SpawnAgentOptions = {}): SpawnedAgent {
  const args = ['--mode', 'rpc', '--stream', 'delta', ...approvalFlags(options.approvals), ...(options.args ?? [])];
  const [command, ...programArgs] =
    options.command === undefined ? [process.execPath, ownProgram(), ...args] : [options.command, ...args];
  const child = spawn(command, programArgs, {
    stdio: ['pipe', 'pipe', 'pipe'],
    cwd: options.cwd,
    env: options.env ?? process.env,
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-KEPT_STDERR_CHARACTERS);
  });
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      stderr += error.message;
    });
  });
  return {
    client: new AgentClient(childLink(child, () => stderr)),
    pid: child.pid,
    stderr: () => stderr,
    exited,
    close: () => {
      child.stdin.end();
      return exited;
    },
    kill: (signal) => void child.kill(signal),
  };
}

const approvalFlags = ({ mode, sandbox }: RequestedApprovals = {}) => [
  ...(mode === undefined ? [] : ['--approvals', mode]),
  ...(sandbox === undefined ? [] : ['--sandbox', sandbox]),
];

/** The build puts the program beside this file. */
const ownProgram = () => fileURLToPath(new URL('./tau.cjs', import.meta.url));

/** Connects to an agent on a socket file, in delta form. */
export async function connectAgent(path: string): Promise<AgentClient> {
  const client = new AgentClient(await connectUnix(path));
  // Not awaited: the caller must be able to subscribe before the first event. A rejected `hello` is an event, too.
  client.hello({ stream: 'delta' }).catch(() => {});
  return client;
}

function childLink(child: ChildProcessByStdio<Writable, Readable, Readable>, stderr: () => string): Link {
  const reader = new LineReader(MAX_RECORD_BYTES);
  child.stdin.on('error', () => {});
  return {
    write: (text) => child.stdin.writable && child.stdin.write(text),
    onDrain: (listener) => void child.stdin.on('drain', listener),
    flush: () => new Promise((resolve) => child.stdin.write('', () => resolve())),
    onLine: (listener) => {
      child.stdout.on('data', (chunk: Buffer) => reader.push(chunk).forEach(listener));
      child.stdout.on('end', () => reader.end().forEach(listener));
    },
    // The end of stdout is reported by `onClose`, which has the exit code and the last line of stderr.
    onEnd: () => {},
    onClose: (listener) => {
      child.once('close', (code, signal) => listener(exitReason(code ?? signal, stderr())));
      child.once('error', (error) => listener(`The agent could not be started: ${error.message}`));
    },
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    close: () => void child.stdin.end(),
  };
}

function exitReason(how: number | string | null, stderr: string): string {
  const lastLine = stderr.trim().split('\n').at(-1);
  return `The agent has ended (${how})${lastLine ? `: ${lastLine}` : ''}`;
}
