import { statSync } from 'node:fs';
import { realPath } from './real-path.ts';

const lastTurns = new Map<string, Promise<void>>();

/**
 * Works on one file one after another, in the order of the calls, whoever in this process asks and by whatever name.
 *
 * What came before may fail; the next turn begins all the same.
 */
export async function takeTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
  const file = identityOf(path);
  const turn = (lastTurns.get(file) ?? Promise.resolve()).then(work);
  const over = turn.then(ignore, ignore);
  lastTurns.set(file, over);
  try {
    return await turn;
  } finally {
    if (lastTurns.get(file) === over) lastTurns.delete(file);
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
