import { closeSync, fstatSync, openSync, statSync } from 'node:fs';
import { abstractNameHolder, acquireAbstractName } from './abstract-name.ts';
import { acquireLockSocket, lockSocketHolder, O_PATH } from './lock-socket.ts';
import { realPath } from './real-path.ts';

const INODE_ATTEMPTS = 10;
const INODE_RETRY_MS = 20;

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
 * Acquires the lock of the inode at a path, whatever its name: hard links and renamed files. Only on Linux, and among
 * the processes of one network and pid namespace. Another user who takes the abstract socket name disables it, but
 * denies no access.
 *
 * The lock keeps the inode in use, so that no new file gets its number. A holder that exits may free both in the other
 * order: the lock is refused when it is still held after a moment.
 */
export async function acquireContentLock(path: string): Promise<ContentLock> {
  if (process.platform !== 'linux') return { ...noLock, dev: 0, ino: 0 };
  const file = openSync(path, O_PATH);
  try {
    const { dev, ino } = fstatSync(file);
    const lock = await acquireInode(`${dev}:${ino}`, path);
    return { dev, ino, release: () => lock.release().finally(() => closeSync(file)) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

async function acquireInode(inode: string, path: string): Promise<Lock> {
  for (let attempt = 1; ; attempt++) {
    const outcome = await acquireAbstractName(inode);
    if ('release' in outcome) return outcome;
    if (outcome.pid === undefined) return noLock;
    if (attempt === INODE_ATTEMPTS) throw new LockHeld(path, outcome.pid);
    await new Promise((resolve) => setTimeout(resolve, INODE_RETRY_MS));
  }
}

const noLock: Lock = { release: async () => undefined };

/** Returns the holder of the lock of the inode at a path, as far as it is known without waiting. Only on Linux. */
export function contentLockHolder(path: string): Holder | undefined {
  if (process.platform !== 'linux') return undefined;
  const { dev, ino } = statSync(path);
  return abstractNameHolder(`${dev}:${ino}`);
}

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

/** The exclusive right to an inode, which `dev` and `ino` identify. */
export interface ContentLock extends Lock {
  readonly dev: number;
  readonly ino: number;
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
