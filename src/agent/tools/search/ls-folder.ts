import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../protocol/errors.ts';
import { isTemporaryName } from '../../../system/files/atomic-write.ts';
import type { FileAccess } from '../../permission.ts';
import { type ToolOutput, textOutput } from '../../tool.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { printableName, ResultLines } from '../result-lines.ts';

interface ListRequest {
  /** As the model wrote it. */
  readonly path: string;
  readonly folder: string;
  /** Absent: every folder may be listed. */
  readonly files?: FileAccess | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Lists the first entries of a folder, ignoring case; a symlink to a folder counts as a folder. */
export async function listFolder(request: ListRequest): Promise<ToolOutput> {
  const { folder, limit, signal, files } = request;
  const entries = (await (files ? readVisible(request, files) : readEntries(folder))).sort(byName);
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

async function readVisible({ path, folder }: ListRequest, files: FileAccess): Promise<Dirent[]> {
  const { readableRoot, readVisibleEntries } = await import('../guarded-files.ts');
  const root = readableRoot({ path, target: folder, files });
  return readEntries(root, () => readVisibleEntries(root, files));
}

const readAll = (folder: string): Promise<Dirent[]> => readdir(folder, { withFileTypes: true });

async function readEntries(folder: string, read = readAll): Promise<Dirent[]> {
  const stats = await stat(folder).catch(() => undefined);
  if (!stats) throw new Error(`Path not found: ${folder}`);
  if (!stats.isDirectory()) throw new Error(`Not a directory: ${folder}`);
  try {
    const entries = await read(folder);
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
