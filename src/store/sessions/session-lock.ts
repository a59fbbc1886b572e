import { statSync } from 'node:fs';
import { Refusal } from '../../protocol/errors.ts';
import { acquireContentLock, acquireLock, type Lock, LockHeld } from '../../system/files/lock.ts';

interface FileIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** The lock of a session file: of its path, and of its inode, which other paths may share. */
export class SessionLock implements Lock {
  readonly #path: string;
  #name: Lock | undefined;
  #content: (FileIdentity & { readonly lock: Lock }) | undefined;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Acquires the lock, or rejects with `session_in_use`. The file need not exist. */
  static async acquire(path: string): Promise<SessionLock> {
    const lock = new SessionLock(path);
    try {
      lock.#name = await lock.#orRefuse(acquireLock(path));
      const content = statSync(path, { throwIfNoEntry: false });
      if (content) await lock.lockContent(content);
      return lock;
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** Locks the file's current inode, which may be new. The previous inode may soon belong to another file. */
  async lockContent({ dev, ino }: FileIdentity): Promise<void> {
    const before = this.#content;
    if (before?.dev === dev && before.ino === ino) return;
    this.#content = { dev, ino, lock: await this.#orRefuse(acquireContentLock({ dev, ino }, this.#path)) };
    await before?.lock.release();
  }

  async release(): Promise<void> {
    await Promise.all([this.#name?.release(), this.#content?.lock.release()]);
  }

  async #orRefuse(taken: Promise<Lock>): Promise<Lock> {
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
