import { statSync } from 'node:fs';
import { realPath } from './real-path.ts';

const pendingWork = new Map<string, Promise<void>>();

/**
 * Works on one file one after another, in the order of the calls, whoever in this process asks and by whatever name.
 *
 * What came before may fail; the next turn begins all the same.
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

/** A file of several names is known by its inode; any other by its path, for writing may give it a new inode. */
function identityOf(path: string): string {
  try {
    const real = realPath(path);
    const stats = statSync(real, { throwIfNoEntry: false });
    return stats && stats.nlink > 1 ? `${stats.dev}:${stats.ino}` : real;
  } catch {
    // What is wrong with a path is told by whoever uses it.
    return path;
  }
}

const ignore = () => undefined;
