import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';

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

function rejectSpecialFile(path: string, stats: Stats): void {
  if (stats.isDirectory()) {
    throw Object.assign(new Error(`EISDIR: illegal operation on a directory, open '${path}'`), { code: 'EISDIR' });
  }
  if (!stats.isFile()) throw new Error(`Not a regular file: ${path}`);
}
