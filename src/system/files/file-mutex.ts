import { statSync } from 'node:fs';
import { realPath } from './real-path.ts';

const pendingWork = new Map<string, Promise<void>>();

/**
 * Runs the work on one file one at a time, in the order of the calls, under every name of the file in this process.
 *
 * Failed work does not stop the work after it.
 */
export async function withFileMutex<T>(path: string, work: () => Promise<T>): Promise<T> {
  const file = identityOf(path);
  const result = (pendingWork.get(file) ?? Promise.resolve()).then(work);
  const settled = result.then(ignore, ignore);
  pendingWork.set(file, settled);
  try {
    return await result;
  } finally {
    if (pendingWork.get(file) === settled) pendingWork.delete(file);
  }
}

/** A file with several names is identified by its inode, any other by its path: a write may give it a new inode. */
function identityOf(path: string): string {
  try {
    const real = realPath(path);
    const stats = statSync(real, { throwIfNoEntry: false });
    return stats && stats.nlink > 1 ? `${stats.dev}:${stats.ino}` : real;
  } catch {
    // The caller that uses the path reports the problem.
    return path;
  }
}

const ignore = () => undefined;
