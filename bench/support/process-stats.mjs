import { readdirSync, readFileSync } from 'node:fs';

/** Resident memory now, in MB. */
export const residentMb = (pid) => statusMb(pid, 'VmRSS');

/** The most memory that was ever resident, in MB. */
export const peakMb = (pid) => statusMb(pid, 'VmHWM');

/** Resident memory in MB, pages shared with other processes divided among them. */
export const proportionalMb = (pid) => fieldMb(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss');

/**
 * CPU time of all threads in microseconds.
 *
 * From the scheduler, which counts nanoseconds: /proc/<pid>/stat counts ticks of 10 ms. Exact while the process sleeps.
 */
export function cpuMicros(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, thread) => sum + threadNanos(pid, thread), 0) / 1000;
}

const threadNanos = (pid, thread) =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);

const statusMb = (pid, field) => fieldMb(readFileSync(`/proc/${pid}/status`, 'utf8'), field);

function fieldMb(text, field) {
  const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text);
  return (Number(kilobytes) * 1024) / 1e6;
}
