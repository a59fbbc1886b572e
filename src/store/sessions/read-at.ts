import { readSync } from 'node:fs';

/** The bytes at a position of a file; fewer at its end. */
export function readAt(fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}
