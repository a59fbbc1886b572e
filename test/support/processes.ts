import { listProcesses } from '../../src/system/processes/process-table.ts';

/** Whether this process lives. One that is dead and not yet buried does not. */
export const isAlive = async (pid: number): Promise<boolean> =>
  (await listProcesses()).some((process) => process.pid === pid);

/** Those of these processes that live. */
export const living = async (pids: readonly number[]): Promise<number[]> =>
  (await listProcesses()).map(({ pid }) => pid).filter((pid) => pids.includes(pid));

/** How many processes of this group live. */
export const groupSize = async (group: number): Promise<number> =>
  (await listProcesses()).filter((process) => process.group === group).length;

/** Clears away what a failed test has left. */
export async function killAll(pids: readonly number[]): Promise<void> {
  for (const pid of await living(pids)) process.kill(pid, 'SIGKILL');
}

/** Waits for what nothing announces: the end of a process that is not our child. */
export async function until(condition: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Never became true: ${condition}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
