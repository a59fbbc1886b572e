/** Exclusive right to a file. Ends with `release` or with the process. */
export interface Lock {
  release(): Promise<void>;
}

/** The refusal of a lock that someone else holds. */
export class LockHeld extends Error {
  override readonly name = 'LockHeld';
  /** The holder, when it could be found out. */
  readonly pid: number | undefined;

  constructor(path: string, pid: number | undefined) {
    super(`${path} is in use by ${pid === undefined ? 'another process' : `process ${pid}`}`);
    this.pid = pid;
  }
}
