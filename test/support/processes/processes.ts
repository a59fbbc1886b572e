import { listProcesses } from '../../../src/system/processes/process-table.ts';

/** Whether this process runs; a zombie does not. */
export const isAlive = async (pid: number): Promise<boolean> =>
  (await listProcesses()).some((process) => process.pid === pid);

/** The processes among these that still run. */
export const filterAlive = async (pids: readonly number[]): Promise<number[]> =>
  (await listProcesses()).map(({ pid }) => pid).filter((pid) => pids.includes(pid));

/** Number of running processes in this group. */
export const groupSize = async (group: number): Promise<number> =>
  (await listProcesses()).filter((process) => process.group === group).length;

/** Kills processes that a failed test has left. */
export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of await filterAlive(pids)) process.kill(pid, 'SIGKILL');
}

/** Polls for a condition that emits no event, such as the end of a process that is not a child. */
export async function waitUntil(condition: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Never became true: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
