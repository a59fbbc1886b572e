import { closeSync, openSync, readSync } from 'node:fs';

const POOL_BYTES = 1024;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** Returns random bytes of the kernel: loading node:crypto would add 3 ms to every start. */
export function randomBytes(count: number): Buffer {
  if (used + count > POOL_BYTES) refill();
  used += count;
  return Buffer.from(pool.subarray(used - count, used));
}

function refill(): void {
  const fd = openSync('/dev/urandom', 'r');
  try {
    for (let filled = 0; filled < POOL_BYTES; ) filled += readSync(fd, pool, filled, POOL_BYTES - filled, null);
  } finally {
    closeSync(fd);
  }
  used = 0;
}
