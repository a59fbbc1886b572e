import { randomBytes } from '../../system/random-bytes.ts';

/** A random UUID (version 4). */
export function newUuid(): string {
  const bytes = randomBytes(16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Eight random hex digits that are not taken; a whole UUID after 100 collisions. */
export function newEntryId(isTaken: (id: string) => boolean): string {
  for (let attempt = 0; attempt < 100; attempt++) {
    const id = randomBytes(4).toString('hex');
    if (!isTaken(id)) return id;
  }
  return newUuid();
}
