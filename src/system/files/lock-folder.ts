import { mkdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

// A lock folder that was not touched for this long belongs to a process that has ended.
const LOCK_FOLDER_STALE_MS = 30_000;

// Longer than a lock takes to become stale: a lock that a crash left behind never fails a caller.
const LOCK_FOLDER_WAIT_MS = 40_000;

// Some programs count a lock as stale after 10 seconds.
const LOCK_FOLDER_TOUCH_MS = 3000;

const MIN_POLL_MS = 10;
const MAX_POLL_MS = 1000;

/** The times of a lock folder. */
export interface LockFolderOptions {
  readonly staleMs?: number;
  readonly waitMs?: number;
}

/** Another program held the lock folder for the whole wait. */
export class LockFolderHeld extends Error {
  override readonly name = 'LockFolderHeld';
}

// Removed at the exit of the process.
const heldFolders = new Set<LockFolder>();

/**
 * An empty folder beside a file, which excludes every program that locks the file the same way, also on other machines
 * and in other containers: `mkdir` creates it for one of them only. Its time of change is kept fresh while it is held.
 */
export class LockFolder {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;
  /** The time of change that this process has set last. */
  #touched: number;

  private constructor(path: string, staleMs: number) {
    this.#path = path;
    this.#touched = mtimeOf(path) ?? 0;
    this.#timer = setInterval(() => this.#touch(), Math.min(LOCK_FOLDER_TOUCH_MS, Math.ceil(staleMs / 3)));
    this.#timer.unref();
    if (heldFolders.size === 0) process.once('exit', releaseAll);
    heldFolders.add(this);
  }

  /** Waits for the lock folder `<file>.lock` and takes it. A stale one is replaced. */
  static async acquire(
    file: string,
    { staleMs = LOCK_FOLDER_STALE_MS, waitMs = LOCK_FOLDER_WAIT_MS }: LockFolderOptions = {},
  ): Promise<LockFolder> {
    const path = `${file}.lock`;
    const deadline = performance.now() + waitMs;
    for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
      if (create(path)) return new LockFolder(path, staleMs);
      if (removeStale(path, staleMs)) continue;
      const leftMs = deadline - performance.now();
      if (leftMs <= 0)
        throw new LockFolderHeld(`another program holds ${path}; remove this folder if no program uses it`);
      await sleep(Math.min(pollMs * (0.5 + Math.random()), leftMs));
    }
  }

  /** Whether this process still holds the folder: one that was suspended for long may have lost it. */
  get isHeld(): boolean {
    return heldFolders.has(this) && mtimeOf(this.#path) === this.#touched;
  }

  release(): void {
    clearInterval(this.#timer);
    const isHeld = this.isHeld;
    heldFolders.delete(this);
    if (heldFolders.size === 0) process.removeListener('exit', releaseAll);
    if (isHeld) rmSync(this.#path, { recursive: true, force: true });
  }

  #touch(): void {
    if (!this.isHeld) return;
    try {
      const now = new Date();
      utimesSync(this.#path, now, now);
      this.#touched = mtimeOf(this.#path) ?? 0;
    } catch {
      // `isHeld` reports a folder that was removed.
    }
  }
}

function releaseAll(): void {
  for (const folder of [...heldFolders]) folder.release();
}

function create(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes an abandoned folder. It is renamed first, so that of several processes only one removes it. */
function removeStale(path: string, staleMs: number): boolean {
  const touched = mtimeOf(path);
  if (touched === undefined) return true;
  if (Date.now() - touched <= staleMs) return false;
  const aside = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  try {
    renameSync(path, aside);
    // Another process may have replaced it after the look at its time.
    if (mtimeOf(aside) === touched || !putBack(aside, path)) rmSync(aside, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return true;
}

/** Returns a lock to its holder; false if another process has taken it meanwhile. */
function putBack(aside: string, path: string): boolean {
  // A rename replaces an empty folder: here only the new one of this process.
  if (!create(path)) return false;
  renameSync(aside, path);
  return true;
}

const mtimeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;
