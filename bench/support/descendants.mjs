import { readdirSync, readFileSync } from 'node:fs';

/** All running descendants of a process, with the names of their programs. */
export function descendants(pid) {
  const all = processes();
  const below = (parent) => all.filter((row) => row.parent === parent).flatMap((row) => [row, ...below(row.pid)]);
  return below(pid).filter(({ state }) => state !== 'Z');
}

/** Number of zombies on the machine. */
export const zombies = () => processes().filter(({ state }) => state === 'Z').length;

function processes() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const [, program, state, parent] = /\((.*)\) (\S) (\d+)/.exec(statOf(name)) ?? [];
      return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent), program, state }];
    });
}

function statOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return '';
  }
}
