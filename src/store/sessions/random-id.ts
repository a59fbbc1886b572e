import { closeSync, openSync, readSync } from 'node:fs';

const POOL_BYTES = 1024;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** A random UUID (version 4). */
export function newUuid(): string {
  const bytes = take(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Eight random hex digits that are not taken yet, for entries; a whole UUID when luck runs out. */
export function newEntryId(isTaken: (id: string) => boolean): string {
  for (let attempt = 0; attempt < 100; attempt++) {
    const id = take(4).toString('hex');
    if (!isTaken(id)) return id;
  }
  return newUuid();
}

/** Straight from the kernel: loading node:crypto would cost 3 ms of every start. */
function take(count: number): Buffer {
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
