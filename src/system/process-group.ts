import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { processTag } from './process-tag.ts';
import { guardGroup, releaseGroup, startGuardian } from './guardian.ts';
import { isSameProcess, listProcesses, TAG_VARIABLE, type ProcessRow } from './process-table.ts';

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
export interface GroupOptions extends ProgramOptions {
  /** The file descriptor that receives stdout and stderr. */
  readonly output: number;
}

/** How a process ended; `error` when it never started. */
export type ProcessExit = { code: number | null; signal: NodeJS.Signals | null; error?: NodeJS.ErrnoException };

/** A started process and everything that comes from it. */
export interface GroupProcess {
  readonly pid: number | undefined;
  /** Settles when the process itself has exited, whatever it left running. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Kills the process, its group and its escapees; settles when none of them is alive. */
  kill(): Promise<void>;
}

/** A started process that is spoken to. */
export interface PipedProcess extends GroupProcess {
  /** Undefined when it never started. */
  readonly pipes: { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable } | undefined;
}

interface Group {
  readonly pid: number;
  readonly tag: string;
  /**
   * Who proves that the group number is still ours: the leader until it was reaped, then the members it left behind.
   * A number is given out again only after the last member of its group has gone.
   */
  knownMembers: 'leader' | Promise<readonly ProcessRow[]>;
}

const MAX_KILL_PASSES = 50;
const MAX_KILL_PAUSE_MS = 20;
/** One is not enough: a process may fork and die between the listing of the pids and the look at its own. */
const CLEAN_PASSES = 2;

const liveGroups = new Set<Group>();
let spawnCount = 0;

/**
 * Starts a process as the leader of its own group, without stdin.
 *
 * Escapees (`setsid`, double fork) are found on Linux by a mark in their environment. One that also clears its
 * environment is out of reach, and so is any that leaves the group on other systems.
 */
export function spawnGroup(options: GroupOptions): GroupProcess {
  return spawnLeader(options, ['ignore', options.output, options.output]).process;
}

/** Starts one in the same way, with a pipe to its stdin and one from each of its outputs. */
export function spawnPiped(options: ProgramOptions): PipedProcess {
  const { process, child } = spawnLeader(options, ['pipe', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child ?? {};
  return { ...process, pipes: stdin && stdout && stderr ? { stdin, stdout, stderr } : undefined };
}

function spawnLeader(options: ProgramOptions, stdio: StdioOptions): { process: GroupProcess; child?: ChildProcess } {
  const tag = `${familyTag(options.family)}:${++spawnCount}`;
  startGuardian();
  const child = trySpawn(options, stdio, tag);
  if (child instanceof Error) {
    return { process: unstartedProcess(Promise.resolve({ code: null, signal: null, error: child })) };
  }

  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = child;
  if (pid === undefined) return { process: unstartedProcess(exited) };

  const group: Group = { pid, tag, knownMembers: 'leader' };
  liveGroups.add(group);
  guardGroup(pid);
  child.once('exit', () => {
    // What it left behind carries the mark; its number may soon be somebody else's.
    if (process.platform === 'linux') releaseGroup(pid);
    group.knownMembers = remainingMembers(group);
  });
  return { process: { pid, exited, kill: () => killGroup(group, exited) }, child };
}

/** Kills everything that was started in the name of one family, and nothing else. */
export async function killFamily(family: string): Promise<void> {
  const tag = familyTag(family);
  if (spawnCount > 0)
    await killAll(
      [...liveGroups].filter((group) => isBelowTag(group.tag, tag)),
      tag,
    );
}

const familyTag = (family: string) => `${processTag()}:${family}`;

function trySpawn({ command, args, cwd, env }: ProgramOptions, stdio: StdioOptions, tag: string) {
  try {
    return spawn(command, args, { cwd, env: { ...env, [TAG_VARIABLE]: tag }, detached: true, stdio });
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

const unstartedProcess = (exited: Promise<ProcessExit>): GroupProcess => ({
  pid: undefined,
  exited,
  kill: async () => undefined,
});

async function remainingMembers(group: Group): Promise<readonly ProcessRow[]> {
  const remaining = signalGroup(group, 0) ? (await listProcesses()).filter((row) => isMember(row, group)) : [];
  if (remaining.length === 0) removeGroup(group);
  return remaining;
}

function removeGroup(group: Group): void {
  if (liveGroups.delete(group)) releaseGroup(group.pid);
}

async function killGroup(group: Group, exited: Promise<ProcessExit>): Promise<void> {
  if (group.knownMembers === 'leader') signalGroup(group, 'SIGKILL');
  if (await killAll([group], group.tag)) await exited;
}

/** Kills the groups and whatever carries the mark until nothing is left; false when something would not die. */
async function killAll(groups: readonly Group[], tag: string): Promise<boolean> {
  let clean = 0;
  for (let pass = 0; pass < MAX_KILL_PASSES && clean < CLEAN_PASSES; pass++) {
    const found = await killPass(groups, tag);
    clean = found ? 0 : clean + 1;
    if (found) await new Promise((resolve) => setTimeout(resolve, Math.min(pass, MAX_KILL_PAUSE_MS)));
  }
  if (clean < CLEAN_PASSES) return false;
  for (const group of groups) removeGroup(group);
  return true;
}

/** One pass; true when it found anyone alive. */
async function killPass(groups: readonly Group[], tag: string): Promise<boolean> {
  const rows = await listProcesses();
  const targets = new Set(rows.filter((row) => isTagged(row, tag)));
  const signalled = new Set<number>();
  for (const group of groups) {
    const members = rows.filter((row) => isMember(row, group));
    if (members.length === 0 || !(await ownsGroup(group, members))) continue;
    if (signalGroup(group, 'SIGKILL')) signalled.add(group.pid);
    for (const row of members) targets.add(row);
  }
  for (const row of targets) if (!signalled.has(row.group)) killIfSame(row);
  return targets.size > 0;
}

async function ownsGroup(group: Group, members: readonly ProcessRow[]): Promise<boolean> {
  const knownMembers = await group.knownMembers;
  if (group.knownMembers === 'leader') return true;
  const known = new Set(knownMembers === 'leader' ? [] : knownMembers.map(identity));
  return members.some((row) => (isTagged(row, group.tag) || known.has(identity(row))) && isSameProcess(row));
}

const identity = ({ pid, startedAt }: ProcessRow) => `${pid} ${startedAt}`;

const isMember = (row: ProcessRow, { pid }: Group) => row.group === pid || row.session === pid;

/** A mark is followed by the number of a spawn, or by the marks of an agent inside it. */
const isBelowTag = (tag: string, ancestor: string) =>
  tag.startsWith(ancestor) && ['', ':', '/'].includes(tag.charAt(ancestor.length));

const isTagged = ({ tag }: ProcessRow, ancestor: string) => tag !== undefined && isBelowTag(tag, ancestor);

/** Whether there was anyone to signal. */
function signalGroup({ pid }: Group, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function killIfSame(row: ProcessRow): void {
  if (!isSameProcess(row)) return;
  try {
    process.kill(row.pid, 'SIGKILL');
  } catch {
    // It died by itself between the look and the signal.
  }
}
