import { abstractNameHolder, acquireAbstractName } from './abstract-name.ts';
import { acquireLockSocket, lockSocketHolder } from './lock-socket.ts';
import { realPath } from './real-path.ts';

/**
 * Acquires the exclusive right to a file among the processes of this machine, or throws `LockHeld`.
 *
 * The lock dies with its holder, even by SIGKILL, and does not keep the process alive. The file need not exist; every
 * symlink to it is the same lock. Only a user who may write to the folder of the file can hold it. In a folder where no
 * socket can be created the lock is an abstract socket name, which any user can take.
 */
export async function acquireLock(path: string): Promise<Lock> {
  if (process.platform !== 'linux') return (await import('./lock-file.ts')).acquireLockFile(path);
  const file = realPath(path);
  const outcome = (await acquireLockSocket(file)) ?? (await acquireAbstractName(file));
  if ('release' in outcome) return outcome;
  throw new LockHeld(path, outcome.pid);
}

/**
 * Acquires the lock of an inode, whatever its name: hard links and renamed files. Only on Linux, and among the
 * processes of one network and pid namespace. Another user who takes the abstract socket name disables it, but
 * denies no access.
 */
export async function acquireContentLock({ dev, ino }: { dev: number; ino: number }, path: string): Promise<Lock> {
  if (process.platform !== 'linux') return noLock;
  const outcome = await acquireAbstractName(`${dev}:${ino}`);
  if ('release' in outcome) return outcome;
  if (outcome.pid === undefined) return noLock;
  throw new LockHeld(path, outcome.pid);
}

const noLock: Lock = { release: async () => undefined };

/** Returns the holder of a lock; undefined when it is free. */
export async function lockHolder(path: string): Promise<Holder | undefined> {
  if (process.platform !== 'linux') return (await import('./lock-file.ts')).lockFileHolder(path);
  const file = realPath(path);
  return (await lockSocketHolder(file)) ?? abstractNameHolder(file);
}

/** The exclusive right to a file. It ends with `release` or with the process. */
export interface Lock {
  release(): Promise<void>;
}

/** The process that holds a lock. */
export interface Holder {
  /** Undefined when the holder did not respond, or is not a visible process of this user. */
  readonly pid: number | undefined;
}

/** Another process, or another caller in this one, holds the lock. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  readonly pid: number | undefined;

  constructor(path: string, pid: number | undefined) {
    super(`${path} is in use by ${pid === undefined ? 'another process' : `process ${pid}`}`);
    this.pid = pid;
  }
}
