import { readdirSync, readFileSync } from 'node:fs';

let count = 0;

/** The arguments of a `sleep` that no other test runs. */
export const newSleep = (): string => `100000.${process.pid}${++count}`;

/** Number of processes of the machine, in whatever namespace, that run this `sleep`. */
export const sleepers = (seconds: string): number =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name) && commandLineOf(name) === `sleep\0${seconds}\0`).length;

function commandLineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
