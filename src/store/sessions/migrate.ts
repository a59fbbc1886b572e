import { readFileSync } from 'node:fs';
import { writeFileAtomic } from '../../system/files/atomic-write.ts';
import { CURRENT_VERSION } from './header.ts';
import { parseObject } from './indexing/line-facts.ts';
import { newEntryId } from './random-id.ts';

/** Migrates a session file of version 1 or 2 in place. A crash leaves the old file or the new one. */
export function migrateFile(path: string, version: number): void {
  writeFileAtomic(path, migrate(readFileSync(path, 'utf8'), version));
}

/** Migrates the text of a session file of version 1 or 2. */
export function migrate(text: string, version: number): string {
  const lines = text.split('\n');
  const chained = version < 2 ? chain(lines) : lines;
  return chained.map(toVersion3).join('\n');
}

/** Version 1 was a list: every entry gets an id and the entry before it as parent. */
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

/** Version 3 renames the role of extension messages to `custom`. Other lines stay unchanged, byte for byte. */
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
