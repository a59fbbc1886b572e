import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { findEscapees, type ProcessCell } from './cell-processes.ts';
import { guardGroup, releaseGroup, startGuardian } from './guardian.ts';
import { isSameProcess, listProcesses, type ProcessRow, startTimeOf, TAG_VARIABLE } from './process-table.ts';
import { processTag } from './process-tag.ts';

/** A program to start as a process group, which can be killed with all its descendants. */
export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `killFamily` ends all processes of one family. */
  readonly family: string;
}

export interface GroupOptions extends ProgramOptions {
  /** The file descriptor that receives stdout and stderr. */
  readonly output: number;
  /** Descriptors that the program inherits as 3, 4 and so on. */
  readonly fds?: readonly number[] | undefined;
  /** Where the program runs: then `kill` also ends escapees that cleared their environment. */
  readonly cell?: ProcessCell | undefined;
}

export type ProcessExit = { code: number | null; signal: NodeJS.Signals | null; error?: NodeJS.ErrnoException };

export interface GroupProcess {
  readonly pid: number | undefined;
  /** Settles when the process itself has exited, even if descendants run on. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Kills the process, its group and its escapees; settles when all of them are dead. */
  kill(): Promise<void>;
}

export interface PipedProcess extends GroupProcess {
  readonly pipes: { readonly stdin: Writable; readonly stdout: Readable; readonly stderr: Readable } | undefined;
}

interface Group {
  readonly pid: number;
  readonly tag: string;
  readonly startedAt: string | undefined;
  readonly cell: ProcessCell | undefined;
  /**
   * They prove that the group number is still ours: the leader until it was reaped, then its remaining members. A
   * number is reused only after the last member of its group has exited.
   */
  knownMembers: 'leader' | Promise<readonly ProcessRow[]>;
}

const MAX_KILL_PASSES = 50;
const MAX_KILL_PAUSE_MS = 20;
// A single pass can miss a process that forks and dies between the listing of the pids and the read of its own.
const CLEAN_PASSES = 2;

const liveGroups = new Set<Group>();
let spawnCount = 0;

/**
 * Starts a process as the leader of its own group, without stdin.
 *
 * Escapees (`setsid`, double fork) are found on Linux by a tag in their environment. An escapee that also clears its
 * environment is found only in a cell, and none that leaves the group on other systems.
 */
export function spawnGroup(options: GroupOptions): GroupProcess {
  return spawnLeader(options, ['ignore', options.output, options.output, ...(options.fds ?? [])], options.cell).process;
}

/** Starts a process like `spawnGroup`, with pipes to its stdin, stdout and stderr. */
export function spawnPiped(options: ProgramOptions): PipedProcess {
  const { process, child } = spawnLeader(options, ['pipe', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child ?? {};
  return { ...process, pipes: stdin && stdout && stderr ? { stdin, stdout, stderr } : undefined };
}

function spawnLeader(
  options: ProgramOptions,
  stdio: StdioOptions,
  cell?: ProcessCell,
): { process: GroupProcess; child?: ChildProcess } {
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

  const group: Group = { pid, tag, startedAt: cell && startTimeOf(pid), cell, knownMembers: 'leader' };
  liveGroups.add(group);
  guardGroup(pid);
  child.once('exit', () => {
    // Remaining members carry the tag; the group number may soon be reused.
    if (process.platform === 'linux') releaseGroup(pid);
    group.knownMembers = remainingMembers(group);
  });
  return { process: { pid, exited, kill: () => killGroup(group, exited) }, child };
}

/** Kills all processes of one family and no others. */
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

/** Kills the groups and all processes with the tag; false when one of them does not die. */
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

// True when it found a live process.
async function killPass(groups: readonly Group[], tag: string): Promise<boolean> {
  const rows = await listProcesses();
  const targets = new Set(rows.filter((row) => isTagged(row, tag)));
  for (const { pid, cell, startedAt } of groups) {
    if (!cell || startedAt === undefined) continue;
    for (const row of findEscapees(rows, { cell, leader: { pid, startedAt }, isKnownTag })) targets.add(row);
  }
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

/** A tag is followed by the number of a spawn, or by the tags of an agent inside it. */
const isBelowTag = (tag: string, ancestor: string) =>
  tag.startsWith(ancestor) && ['', ':', '/'].includes(tag.charAt(ancestor.length));

const isKnownTag = (tag: string) => isBelowTag(tag, processTag());

const isTagged = ({ tag }: ProcessRow, ancestor: string) => tag !== undefined && isBelowTag(tag, ancestor);

/** Returns whether the group has a member. */
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
    // It died between the check and the signal.
  }
}
