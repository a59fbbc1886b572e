import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { realPath } from './real-path.ts';

/** The permission bits of a mode. */
export const PERMISSION_BITS = 0o7777;
const CANNOT_SYNC_FOLDER = new Set(['EACCES', 'EINVAL', 'ENOTSUP', 'EPERM']);

interface AtomicWriteOptions {
  readonly mode?: number;
  readonly newMode?: number;
}

/**
 * Replaces a file's content as a whole: a reader, or a crash at any moment, sees the old text or the new, never a mix.
 *
 * Keeps the mode of an existing file unless `mode` is given, and writes through a symlink to its target. `newMode` is for
 * a new file.
 * The owner becomes the writing user, and other hard links keep the old content.
 */
export function writeFileAtomic(path: string, text: string, options: AtomicWriteOptions = {}): void {
  const target = realPath(path);
  const mode = options.mode ?? modeOf(target) ?? options.newMode;
  const temporary = temporaryPathBeside(target);
  try {
    writeSynced(temporary, text, mode);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(target));
}

/**
 * Like `writeFileAtomic`, for content too large for memory: other work runs between two pieces.
 *
 * A new file gets the given mode, an existing one keeps its own.
 */
export async function writePiecesAtomic(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: { readonly newMode: number },
): Promise<void> {
  const target = realPath(path);
  await swapFile(target, 0o600, async (file) => {
    await file.chmod(modeOf(target) ?? options.newMode);
    for await (const piece of pieces) await file.writeFile(piece);
  });
}

/** Creates a file with this mode, fills it and renames it over the target; on failure the target is unchanged. */
export async function swapFile(target: string, mode: number, fill: (file: FileHandle) => Promise<void>): Promise<void> {
  const temporary = temporaryPathBeside(target);
  const file = await open(temporary, 'wx', mode).catch((error: Error) => {
    // The caller passed the target, not the temporary path.
    error.message = error.message.replace(temporary, target);
    throw error;
  });
  try {
    try {
      await fill(file);
      await file.sync();
    } finally {
      await file.close();
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(target));
}

function modeOf(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats && stats.mode & PERMISSION_BITS;
}

/** A new path in the same folder, for content that replaces this file when it is complete. */
export const temporaryPathBeside = (path: string): string =>
  join(dirname(path), `.tau-${process.pid}-${Math.random().toString(36).slice(2)}.tmp`);

/** Whether a file of this name is a half-written one of tau. */
export const isTemporaryName = (name: string): boolean => /^\.tau-\d+-[a-z\d]+\.tmp$/.test(name);

/** The names of `isTemporaryName` as a glob, which matches slightly more. */
export const TEMPORARY_NAMES = '.tau-[0-9]*-*.tmp';

function writeSynced(path: string, text: string, mode: number | undefined): void {
  const fd = openSync(path, 'wx', mode === undefined ? 0o666 : 0o600);
  try {
    if (mode !== undefined) fchmodSync(fd, mode);
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function syncFolder(path: string): void {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    fsyncSync(fd);
  } catch (error) {
    // The new text is already in place; some file systems cannot sync a folder.
    if (!CANNOT_SYNC_FOLDER.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
