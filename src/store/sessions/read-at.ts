import { readSync } from 'node:fs';

/** Reads bytes at a position; fewer at the end of the file. */
export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}
