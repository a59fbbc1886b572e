import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { agentMark } from './agent-mark.ts';
import { guardGroup, releaseGroup, startGuardian } from './guardian.ts';
import { isSame, listProcesses, MARK, type ProcessRow } from './process-table.ts';

/** What to start. */
export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Who wants it to end with all others of the same name. */
  readonly family: string;
}

/** What to start, and where its output goes. */
export interface SpawnOptions extends ProgramOptions {
  /** The file descriptor that receives stdout and stderr. */
  readonly output: number;
}

/** How a process ended; `error` when it never started. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null; error?: NodeJS.ErrnoException };

/** A started process and everything that comes from it. */
export interface GroupProcess {
  readonly pid: number | undefined;
  /** Settles when the process itself has exited, whatever it left running. Never rejects. */
  readonly exited: Promise<Exit>;
  /** Kills the process, its group and its escapees; settles when none of them is alive. */
  kill(): Promise<void>;
}

/** A started process that is spoken to. */
export interface TalkingProcess extends GroupProcess {
  /** Undefined when it never started. */
  readonly pipes: { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable } | undefined;
}

interface Group {
  readonly pid: number;
  readonly mark: string;
  /**
   * Who proves that the group number is still ours: the leader until it was reaped, then the members it left behind.
   * A number is given out again only after the last member of its group has gone.
   */
  witnesses: 'leader' | Promise<readonly ProcessRow[]>;
}

const MAX_PASSES = 50;
const MAX_PAUSE_MS = 20;
/** One is not enough: a process may fork and die between the listing of the pids and the look at its own. */
const CLEAN_PASSES = 2;

const living = new Set<Group>();
let spawned = 0;

/**
 * Starts a process as the leader of its own group, without stdin.
 *
 * Escapees (`setsid`, double fork) are found on Linux by a mark in their environment. One that also clears its
 * environment is out of reach, and so is any that leaves the group on other systems.
 */
export function spawnGroup(options: SpawnOptions): GroupProcess {
  return lead(options, ['ignore', options.output, options.output]).process;
}

/** Starts one in the same way, with a pipe to its stdin and one from each of its outputs. */
export function spawnTalking(options: ProgramOptions): TalkingProcess {
  const { process, child } = lead(options, ['pipe', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child ?? {};
  return { ...process, pipes: stdin && stdout && stderr ? { stdin, stdout, stderr } : undefined };
}

function lead(options: ProgramOptions, stdio: StdioOptions): { process: GroupProcess; child?: ChildProcess } {
  const ownMark = `${familyMark(options.family)}:${++spawned}`;
  startGuardian();
  const child = start(options, stdio, ownMark);
  if (child instanceof Error) {
    return { process: neverStarted(Promise.resolve({ code: null, signal: null, error: child })) };
  }

  const exited = new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  if (pid === undefined) return { process: neverStarted(exited) };

  const group: Group = { pid, mark: ownMark, witnesses: 'leader' };
  living.add(group);
  guardGroup(pid);
  child.once('exit', () => {
    // What it left behind carries the mark; its number may soon be somebody else's.
    if (process.platform === 'linux') releaseGroup(pid);
    group.witnesses = witnessesOf(group);
  });
  return { process: { pid, exited, kill: () => killGroup(group, exited) }, child };
}

/** Kills everything that was started in the name of one family, and nothing else. */
export async function killFamily(family: string): Promise<void> {
  const mark = familyMark(family);
  if (spawned > 0)
    await sweep(
      [...living].filter((group) => carriesMark(group.mark, mark)),
      mark,
    );
}

const familyMark = (family: string) => `${agentMark()}:${family}`;

function start({ command, args, cwd, env }: ProgramOptions, stdio: StdioOptions, ownMark: string) {
  try {
    return spawn(command, args, { cwd, env: { ...env, [MARK]: ownMark }, detached: true, stdio });
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

const neverStarted = (exited: Promise<Exit>): GroupProcess => ({
  pid: undefined,
  exited,
  kill: async () => undefined,
});

async function witnessesOf(group: Group): Promise<readonly ProcessRow[]> {
  const left = signalGroup(group, 0) ? (await listProcesses()).filter((row) => isMember(row, group)) : [];
  if (left.length === 0) forget(group);
  return left;
}

function forget(group: Group): void {
  if (living.delete(group)) releaseGroup(group.pid);
}

async function killGroup(group: Group, exited: Promise<Exit>): Promise<void> {
  if (group.witnesses === 'leader') signalGroup(group, 'SIGKILL');
  if (await sweep([group], group.mark)) await exited;
}

/** Kills the groups and whatever carries the mark until nothing is left; false when something would not die. */
async function sweep(groups: readonly Group[], wanted: string): Promise<boolean> {
  let clean = 0;
  for (let pass = 0; pass < MAX_PASSES && clean < CLEAN_PASSES; pass++) {
    const found = await killOnce(groups, wanted);
    clean = found ? 0 : clean + 1;
    if (found) await new Promise((resolve) => setTimeout(resolve, Math.min(pass, MAX_PAUSE_MS)));
  }
  if (clean < CLEAN_PASSES) return false;
  for (const group of groups) forget(group);
  return true;
}

/** One pass; true when it found anyone alive. */
async function killOnce(groups: readonly Group[], wanted: string): Promise<boolean> {
  const rows = await listProcesses();
  const victims = new Set(rows.filter((row) => carries(row, wanted)));
  const signalled = new Set<number>();
  for (const group of groups) {
    const members = rows.filter((row) => isMember(row, group));
    if (members.length === 0 || !(await isStillOurs(group, members))) continue;
    if (signalGroup(group, 'SIGKILL')) signalled.add(group.pid);
    for (const row of members) victims.add(row);
  }
  for (const row of victims) if (!signalled.has(row.group)) killIfSame(row);
  return victims.size > 0;
}

async function isStillOurs(group: Group, members: readonly ProcessRow[]): Promise<boolean> {
  const witnesses = await group.witnesses;
  if (group.witnesses === 'leader') return true;
  const known = new Set(witnesses === 'leader' ? [] : witnesses.map(identity));
  return members.some((row) => (carries(row, group.mark) || known.has(identity(row))) && isSame(row));
}

const identity = ({ pid, startedAt }: ProcessRow) => `${pid} ${startedAt}`;

const isMember = (row: ProcessRow, { pid }: Group) => row.group === pid || row.session === pid;

/** A mark is followed by the number of a spawn, or by the marks of an agent inside it. */
const carriesMark = (mark: string, wanted: string) =>
  mark.startsWith(wanted) && ['', ':', '/'].includes(mark.charAt(wanted.length));

const carries = ({ mark }: ProcessRow, wanted: string) => mark !== undefined && carriesMark(mark, wanted);

/** Whether there was anyone to signal. */
function signalGroup({ pid }: Group, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function killIfSame(row: ProcessRow): void {
  if (!isSame(row)) return;
  try {
    process.kill(row.pid, 'SIGKILL');
  } catch {
    // It died by itself between the look and the signal.
  }
}
