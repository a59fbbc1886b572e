import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../protocol/errors.ts';
import { isTemporaryName } from '../../../system/files/atomic-write.ts';
import { type ToolOutput, textOutput } from '../../tool.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { printableName, ResultLines } from '../result-lines.ts';

interface ListRequest {
  readonly folder: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Lists the first entries of a folder, ignoring case; a symlink to a folder counts as a folder. */
export async function listFolder({ folder, limit, signal }: ListRequest): Promise<ToolOutput> {
  const entries = (await readEntries(folder)).sort(byName);
  if (entries.length === 0) return textOutput('(empty directory)');
  const lines = new ResultLines();
  for (const entry of entries.slice(0, limit)) {
    throwIfAborted(signal);
    const name = printableName(entry.name);
    if (!lines.push((await isFolderOrLinkToOne(folder, entry)) ? `${name}/` : name)) break;
  }
  if (lines.length < limit || entries.length === limit) return lines.output();
  return lines.output({
    limitNotice: `${limit} entries limit reached. Use limit=${limit * 2} for more`,
    details: { entryLimitReached: limit },
  });
}

async function readEntries(folder: string): Promise<Dirent[]> {
  const stats = await stat(folder).catch(() => undefined);
  if (!stats) throw new Error(`Path not found: ${folder}`);
  if (!stats.isDirectory()) throw new Error(`Not a directory: ${folder}`);
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter(({ name }) => !isTemporaryName(name));
  } catch (error) {
    throw new Error(`Cannot read directory: ${messageOf(error)}`, { cause: error });
  }
}

async function isFolderOrLinkToOne(folder: string, entry: Dirent): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  const target = await stat(join(folder, entry.name)).catch(() => undefined);
  return target?.isDirectory() ?? false;
}

/** Compares without case first, then with case. Independent of the locale. */
function byName({ name: a }: Dirent, { name: b }: Dirent): number {
  return compare(a.toLowerCase(), b.toLowerCase()) || compare(a, b);
}

const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b));
