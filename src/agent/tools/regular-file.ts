import { stat } from 'node:fs/promises';
import { sizeOf } from './truncate.ts';

/** A larger file is read with bash, a piece at a time. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;

/** Refuses what is there and is no ordinary file: a pipe or a device may keep whoever opens it waiting for ever. */
export async function checkRegular(path: string): Promise<void> {
  const stats = await stat(path).catch(() => undefined);
  if (stats && !stats.isFile() && !stats.isDirectory()) throw new Error(`Not a regular file: ${path}`);
}

/** Refuses a file that is too large to be held in memory. */
export async function checkReadable(path: string): Promise<void> {
  await checkRegular(path);
  const size = (await stat(path).catch(() => undefined))?.size ?? 0;
  if (size > MAX_FILE_BYTES) {
    throw new Error(
      `File is too large: ${path} is ${sizeOf(size)}, at most ${sizeOf(MAX_FILE_BYTES)} can be read. Use bash: sed -n`,
    );
  }
}
