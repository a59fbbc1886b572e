import type { Stats } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Refusal } from '../../../protocol/errors.ts';
import { reachableStats } from '../../../system/files/reachable-stats.ts';
import { realPath } from '../../../system/files/real-path.ts';

/** A file that may be a session. */
export interface ListedFile {
  readonly path: string;
  readonly modifiedAt: number;
  readonly size: number;
}

/** The folders that may hold sessions: the root, its sub-folders, and one extra folder. */
export async function sessionFolders(root: string, extraFolder: string | undefined): Promise<string[]> {
  const inside = (await readFolder(root, { isRoot: true }))
    .filter((entry) => !entry.name.startsWith('.') && !entry.isFile())
    .map(({ name }) => join(root, name));
  const folders = [root, ...inside, ...(extraFolder === undefined ? [] : [extraFolder])];
  return [...new Map(folders.map((folder) => [realFolder(folder), folder])).values()];
}

/** The `.jsonl` files in these folders, last written first. */
export async function filesIn(folders: readonly string[], timer: YieldTimer): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  for (const folder of folders) {
    for (const { name } of await readFolder(folder)) {
      await timer.yieldToEventLoop();
      const path = join(folder, name);
      const stats = name.endsWith('.jsonl') ? fileStats(path) : undefined;
      if (stats) files.push({ path, modifiedAt: stats.mtimeMs, size: stats.size });
    }
  }
  return files.sort(byAge);
}

/** Last written first; equal times are ordered by path. */
export function byAge(a: Pick<ListedFile, 'path' | 'modifiedAt'>, b: Pick<ListedFile, 'path' | 'modifiedAt'>): number {
  if (a.modifiedAt !== b.modifiedAt) return b.modifiedAt - a.modifiedAt;
  return a.path < b.path ? -1 : Number(a.path > b.path);
}

/** The real path of a folder, or the given path if it cannot be resolved. */
export function realFolder(folder: string): string {
  try {
    return realPath(folder);
  } catch {
    return folder;
  }
}

function fileStats(path: string): Stats | undefined {
  const stats = reachableStats(path);
  return stats?.isFile() ? stats : undefined;
}

/** An unreadable folder counts as empty, except that an unreadable root is an error. */
async function readFolder(folder: string, { isRoot = false } = {}) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (isRoot && (error as NodeJS.ErrnoException).code === 'EACCES') {
      throw new Refusal('permission_denied', `Sessions cannot be listed: ${folder} cannot be read`, { cause: error });
    }
    return [];
  }
}

// Longest time that a listing may block the event loop.
const MAX_BLOCK_MS = 4;

/** Yields to the event loop during long work. */
export class YieldTimer {
  #since = performance.now();

  async yieldToEventLoop(): Promise<void> {
    if (performance.now() - this.#since < MAX_BLOCK_MS) return;
    await turn();
    this.#since = performance.now();
  }
}
