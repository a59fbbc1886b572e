import { constants, type Stats } from 'node:fs';
import { access, type FileHandle, open, stat } from 'node:fs/promises';

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/** Rejects special files: opening a pipe or a device may block for ever. */
export async function checkRegularFile(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats) rejectSpecialFile(path, stats);
}

/** Opens a regular file for reading, also if the path is replaced meanwhile. */
export async function openRegularFile(path: string): Promise<FileHandle> {
  await checkRegularFile(path);
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    rejectSpecialFile(path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Throws for a folder, pipe or device. */
export function rejectSpecialFile(path: string, stats: Stats): void {
  if (stats.isDirectory()) {
    throw Object.assign(new Error(`EISDIR: illegal operation on a directory, open '${path}'`), { code: 'EISDIR' });
  }
  if (!stats.isFile()) throw new Error(`Not a regular file: ${path}`);
}

/** Whether the search root is a folder. Throws if it is missing or unreadable. */
export async function isSearchableFolder(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined);
  if (!stats) throw new Error(`Path not found: ${path}`);
  if (!stats.isDirectory()) return false;
  await access(path, constants.R_OK | constants.X_OK).catch(() => {
    throw new Error(`Permission denied: ${path}`);
  });
  return true;
}
