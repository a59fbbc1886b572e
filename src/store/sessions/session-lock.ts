import { existsSync, statSync } from 'node:fs';
import { Refusal } from '../../protocol/errors.ts';
import { acquireContentLock, acquireLock, type ContentLock, type Lock, LockHeld } from '../../system/files/lock.ts';

/** The lock of a session file: of its path, and of its inode, which other paths may share. */
export class SessionLock implements Lock {
  readonly #path: string;
  #name: Lock | undefined;
  #content: ContentLock | undefined;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Acquires the lock, or rejects with `session_in_use`. The file need not exist. */
  static async acquire(path: string): Promise<SessionLock> {
    const lock = new SessionLock(path);
    try {
      lock.#name = await lock.#orRefuse(acquireLock(path));
      if (existsSync(path)) await lock.lockContent();
      return lock;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Locks the file's current inode, which may be new. */
  async lockContent(): Promise<void> {
    const { dev, ino } = statSync(this.#path);
    const before = this.#content;
    if (before?.dev === dev && before.ino === ino) return;
    this.#content = await this.#orRefuse(acquireContentLock(this.#path));
    await before?.release();
  }

  async release(): Promise<void> {
    await Promise.all([this.#name?.release(), this.#content?.release()]);
  }

  async #orRefuse<T extends Lock>(taken: Promise<T>): Promise<T> {
    try {
      return await taken;
    } catch (error) {
      if (!(error instanceof LockHeld)) throw error;
      const holder = error.pid;
      const owner = holder === undefined ? 'another process' : `process ${holder}`;
      throw new Refusal('session_in_use', `Session is in use by ${owner}: ${this.#path}`, { holder, cause: error });
    }
  }
}
