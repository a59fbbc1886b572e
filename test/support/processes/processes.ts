import { readFileSync } from 'node:fs';
import {
  isSameProcess,
  listProcesses,
  type ProcessRow,
  TAG_VARIABLE,
} from '../../../src/system/processes/process-table.ts';
import { untilNextPoll } from './poll.ts';

/** Whether this process runs; a zombie does not. */
export const isAlive = async (pid: number): Promise<boolean> =>
  (await listProcesses()).some((process) => process.pid === pid);

/** The processes among these that still run. */
export const filterAlive = async (pids: readonly number[]): Promise<number[]> =>
  (await listProcesses()).map(({ pid }) => pid).filter((pid) => pids.includes(pid));

/** Number of running processes in this group. */
export const groupSize = async (group: number): Promise<number> =>
  (await listProcesses()).filter((process) => process.group === group).length;

/**
 * The processes with a tag in their environment, and all that they have started and that still run. Guardians have an empty
 * environment and carry the tag in their arguments.
 */
export async function taggedDescendants(tag: string): Promise<ProcessRow[]> {
  const isOurs = (row: ProcessRow) =>
    row.tag?.startsWith(tag) || cmdlineOf(row.pid).includes(`\0${TAG_VARIABLE}=${tag}/`);
  return (await listProcesses()).filter(isOurs);
}

/** The running agents of a server that was started with a tag. */
export async function agentsOf(tag: string, serverPid: number): Promise<ProcessRow[]> {
  const own = `${tag}/${serverPid.toString(36)}-`;
  const rows = (await listProcesses()).filter((row) => row.tag?.startsWith(own));
  return rows.filter(({ pid }) => cmdlineOf(pid).includes('\0--mode\0rpc\0'));
}

/** Sends a signal to a process, unless its pid was reused. */
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

/** Kills processes that a failed test has left. */
export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of await filterAlive(pids)) process.kill(pid, 'SIGKILL');
}

/** Polls for a condition that emits no event, such as the end of a process that is not a child. */
export async function waitUntil(condition: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Never became true: ${condition}`);
    await untilNextPoll();
  }
}
