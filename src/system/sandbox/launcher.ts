import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FILTER_FD = 9;
const O_CLOEXEC = 0o2000000;
const FIRST_EXTRA_FD = 3;

/** Runs bwrap with the seccomp filter as an open descriptor. */
export interface Launcher {
  readonly command: string;
  /** The arguments before those of the program. */
  readonly args: readonly string[];
  /** The descriptor of the filter in the program. */
  readonly filterFd: number;
}

/**
 * A shell opens the filter for bwrap: a descriptor of this process would have to be closed after each start, and a
 * shared one has one position in the file.
 *
 * It also closes descriptors that this process has inherited and would pass on: the file behind one may be writable.
 * Node closes only low ones. Numbers of two digits need bash; `-p` ignores BASH_ENV.
 */
export function makeLauncher(filter: string): Launcher {
  const inherited = inheritedDescriptors();
  const closing = inherited.map((fd) => `${fd}>&-`).join(' ');
  const script = `${closing && `exec ${closing}; `}exec "$@" ${FILTER_FD}<"$0"`;
  if (inherited.length === 0) return { command: '/bin/sh', args: ['-c', script, filter], filterFd: FILTER_FD };
  if (!existsSync('/bin/bash'))
    throw new Error(`Descriptor ${inherited[0]} is inherited and cannot be closed without bash`);
  return { command: '/bin/bash', args: ['-p', '-c', script, filter], filterFd: FILTER_FD };
}

/** Descriptors that every child of this process would inherit. */
function inheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((fd) => fd >= FIRST_EXTRA_FD && isInheritable(fd));
}

function isInheritable(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false;
  }
}
