// The exclusive right to a file. It ends with `release` or with the process.
export interface Lock {
  release(): Promise<void>;
}

// Another process, or another caller in this one, holds the lock.
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  /** Undefined when the holder did not respond. */
  readonly pid: number | undefined;

  constructor(path: string, pid: number | undefined) {
    super(`${path} is in use by ${pid === undefined ? 'another process' : `process ${pid}`}`);
    this.pid = pid;
  }
}
