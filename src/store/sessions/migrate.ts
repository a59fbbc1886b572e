import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../system/files/atomic-write.ts';
import { CURRENT_VERSION } from './header.ts';
import { parseObject } from './indexing/line-facts.ts';
import { newEntryId } from './random-id.ts';

/** Brings a session file of version 1 or 2 to the current one. A crash leaves the old file or the new. */
export function migrateFile(path: string, version: number): void {
  writeFileAtomic(path, migrate(readFileSync(path, 'utf8'), version));
}

/** The text of a session file of version 1 or 2 as the current one would have it. */
export function migrate(text: string, version: number): string {
  const lines = text.split('\n');
  const chained = version < 2 ? chain(lines) : lines;
  return chained.map(toVersion3).join('\n');
}

/** Version 1 was a list: every entry gets an id and the one before it as parent. */
function chain(lines: readonly string[]): string[] {
  const ids: string[] = []; // by the position that `firstKeptEntryIndex` counts: the header is 0, broken lines are not there
  const taken = new Set<string>();
  let last: string | null = null;

  return lines.map((line) => {
    const value = parseObject(line);
    if (!value) return line;
    if (value['type'] === 'session') {
      ids.push('');
      return line;
    }
    const { type, id: given, parentId: givenParent, timestamp, firstKeptEntryIndex, ...rest } = value;
    const isPlaced = typeof given === 'string' && (typeof givenParent === 'string' || givenParent === null);
    const id: string = isPlaced ? given : newEntryId((candidate) => taken.has(candidate));
    const parentId: unknown = isPlaced ? givenParent : last;
    const firstKept = typeof firstKeptEntryIndex === 'number' ? ids[firstKeptEntryIndex] : undefined;
    ids.push(id);
    taken.add(id);
    last = id;
    return JSON.stringify({
      type,
      id,
      parentId,
      timestamp,
      ...rest,
      ...(firstKept && { firstKeptEntryId: firstKept }),
    });
  });
}

/** Version 3 calls the messages of extensions `custom`. Lines that need no change stay as they are, to the byte. */
function toVersion3(line: string): string {
  const isHeader = line.startsWith('{') && line.includes('"session"');
  if (!isHeader && !line.includes('"hookMessage"')) return line;
  const value = parseObject(line);
  if (value?.['type'] === 'session') return JSON.stringify(headerFirst({ ...value, version: CURRENT_VERSION }));
  const message = value?.['message'];
  if (value?.['type'] !== 'message' || typeof message !== 'object' || message === null) return line;
  if ((message as { role?: unknown }).role !== 'hookMessage') return line;
  return JSON.stringify({ ...value, message: { ...message, role: 'custom' } });
}

const headerFirst = ({ type, version, ...rest }: Record<string, unknown>) => ({ type, version, ...rest });
