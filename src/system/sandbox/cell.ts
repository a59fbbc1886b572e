import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { ProcessCell } from '../processes/cell-processes.ts';
import { guardGroup, releaseGroup, startGuardian } from '../processes/guardian.ts';
import { startTimeOf, TAG_VARIABLE } from '../processes/process-table.ts';
import { processTag } from '../processes/process-tag.ts';
import { withTimeout } from '../with-timeout.ts';
import type { SandboxPrograms } from './programs.ts';

// Longer only on a machine that is out of order.
const CELL_START_MS = 10_000;
const CELL_END_MS = 5000;

const SIGKILL_BIT = 1n << 8n;
const PF_EXITING = 0x4;
// Of /proc/PID/stat, counted after the name.
const FLAGS_FIELD = 6;

/** How a cell is made. */
export interface CellOptions extends SandboxPrograms {
  readonly bwrap: string;
  /** True: the network of the host. */
  readonly openNetwork: boolean;
}

/** The namespaces that the commands of one sandbox share. They end with their first process. */
export interface Cell {
  readonly processes: ProcessCell;
  /** Whether a command can still enter. */
  readonly isAlive: () => boolean;
  /** The command line that runs a program inside, before the program. */
  readonly enter: readonly string[];
  /** The command line that runs a program with the files of the host and the network of the cell. */
  readonly enterNetwork: readonly string[];
  /** Ends every process inside; settles when none is left. */
  readonly end: () => Promise<void>;
}

const NAMESPACES = { user: 'user', net: 'net', ipc: 'ipc', pid: 'pid', mnt: 'mount' } as const;
type Namespace = keyof typeof NAMESPACES;

/** The namespaces that a sandbox needs; bwrap takes them for a cell, or for each command where there is no cell. */
export const unshareArguments = (openNetwork: boolean): string[] => [
  ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
  ...(openNetwork ? [] : ['--unshare-net']),
];

// Root without any capability could still change the mode of the host's /dev/null. bwrap cannot bind a device read-only.
const PROTECT_DEVICES = 'mount -o remount,bind,ro /dev || :';

/**
 * Starts a cell; undefined where no program can enter one.
 *
 * Its first process is bwrap's, which also reaps orphans. It runs `cat` until the pipe to it closes, so that the cell
 * ends with this process, even after SIGKILL.
 */
export async function startCell(options: CellOptions): Promise<Cell | undefined> {
  const { nsenter, openNetwork } = options;
  if (nsenter === undefined) return undefined;
  const holder = startHolder(options);
  const spaces = new Map<Namespace, number>();
  const end = () => endHolder(holder, spaces);
  try {
    const init = await withTimeout(CELL_START_MS, untilReady(holder), 'The sandbox did not start in time');
    const watched = [init, ...childrenOf(init)].map((pid) => [pid, startTimeOf(pid)] as const);
    for (const name of Object.keys(NAMESPACES) as Namespace[]) {
      if (name !== 'net' || !openNetwork) spaces.set(name, openSync(`/proc/${init}/ns/${name}`, 'r'));
    }
    const enterWith = (names: readonly Namespace[]) => [
      ...[nsenter, ...names.flatMap((name) => join(name, spaces))],
      ...['--preserve-credentials', '--'],
    ];
    const enter = enterWith([...spaces.keys()]);
    if (!(await runs([...enter, '/bin/sh', '-c', process.getuid?.() === 0 ? PROTECT_DEVICES : ':']))) {
      await end();
      return undefined;
    }
    return {
      processes: { namespace: readlinkSync(`/proc/${init}/ns/pid`), init },
      isAlive: () =>
        isRunning(holder.child) && watched.every(([pid, startedAt]) => startTimeOf(pid) === startedAt && !isDying(pid)),
      enter,
      enterNetwork: enterWith(['user', 'net']),
      end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** A command can kill `cat`, which ends the cell a moment before its first process is dead. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  } catch {
    return []; // The kernel was built without this file.
  }
}

/** Whether a process has a SIGKILL to come or is just ending: for a moment it is still listed as running. */
function isDying(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const pending = [...status.matchAll(/^(?:Sig|Shd)Pnd:\s*([0-9a-f]+)$/gm)].map(([, mask]) => BigInt(`0x${mask}`));
    const flags = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[FLAGS_FIELD]);
    return pending.some((mask) => (mask & SIGKILL_BIT) !== 0n) || (flags & PF_EXITING) !== 0;
  } catch {
    return true;
  }
}

interface Holder {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  readonly errors: string[];
  init?: number;
}

/** Through descriptors of this process: the number of a dead process may be reused. */
const join = (name: Namespace, spaces: ReadonlyMap<Namespace, number>) => {
  const fd = spaces.get(name);
  return fd === undefined ? [] : [`--${NAMESPACES[name]}=/proc/${process.pid}/fd/${fd}`];
};

function startHolder({ bwrap, openNetwork }: CellOptions): Holder {
  startGuardian();
  const view = ['--cap-drop', 'ALL', '--die-with-parent', '--dev-bind', '/', '/', '--proc', '/proc'];
  const args = [...unshareArguments(openNetwork), ...view, '--info-fd', '3', '--', catPath()];
  const child = spawn(bwrap, args, {
    cwd: '/',
    detached: true,
    env: { [TAG_VARIABLE]: `${processTag()}:cell` },
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  // Settles also when the program cannot be started.
  const exited = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  child.once('error', (error) => errors.push(error.message));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => errors.push(text));
  child.stdin?.on('error', () => {});
  const { pid } = child;
  if (pid !== undefined) {
    guardGroup(pid);
    void exited.then(() => releaseGroup(pid));
  }
  return { child, exited, errors };
}

const catPath = () => (existsSync('/bin/cat') ? '/bin/cat' : '/run/current-system/sw/bin/cat');

/** Returns the pid of the first process once `cat` runs: before, the mounts are not complete. */
async function untilReady(holder: Holder): Promise<number> {
  const { child, exited, errors } = holder;
  const { stdout } = child;
  const info = child.stdio[3] as Readable | null | undefined;
  if (!stdout || !info) throw new Error('bwrap cannot be started: no descriptor is left');
  const failed = exited.then(async () => {
    // The messages may arrive after the exit.
    if (child.stderr) await finished(child.stderr).catch(() => {});
    throw new Error(`bwrap failed: ${errors.join('').trim()}`);
  });
  child.stdin?.write('\n');
  // A bwrap that fails may close the pipe without a state: its messages are the reason.
  const started = Promise.all([once(stdout, 'data'), readJson(info).catch(() => failed)]);
  const [, state] = await Promise.race([started, failed]);
  holder.init = state['child-pid'];
  for (const stream of child.stdio) (stream as Socket | null)?.unref();
  child.unref();
  return state['child-pid'];
}

async function readJson(stream: Readable): Promise<{ 'child-pid': number }> {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return JSON.parse(text);
}

async function endHolder({ child, exited, init }: Holder, spaces: Map<Namespace, number>): Promise<void> {
  for (const fd of spaces.values()) closeSync(fd);
  spaces.clear();
  child.stdin?.destroy();
  // bwrap waits for its child: until it exits, the number is not reused. The end of the first process ends all others.
  if (isRunning(child)) killProcess(init ?? child.pid ?? 0);
  await withTimeout(CELL_END_MS, exited, 'A process of the sandbox does not end');
  for (const stream of child.stdio) stream?.destroy();
}

function killProcess(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess) =>
  pid !== undefined && exitCode === null && signalCode === null;

async function runs([command = '', ...args]: readonly string[]): Promise<boolean> {
  try {
    await promisify(execFile)(command, args, { cwd: '/', env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' } });
    return true;
  } catch {
    return false;
  }
}
