import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import { type Grant, mayOpen } from './auth/grant.ts';

/** More folders than this are not told of at once. */
const MAX_FOLDERS = 1000;

export interface FolderQuery {
  /** Where to look; without it where sessions begin, or the first place that somebody may open. */
  readonly path?: string | undefined;
  /** Whether those whose names begin with a dot count, too. */
  readonly hidden: boolean;
}

/** What is in a folder, as far as a session could begin there. */
export interface FolderListing {
  readonly path: string;
  /** The folder that it is in, unless that may not be opened. */
  readonly parent?: string;
  readonly folders: readonly { readonly name: string; readonly path: string }[];
  /** There are more than are told. */
  readonly hasMore: boolean;
}

/** Lists the folders in a folder, by name. `cwd`: where sessions begin when nobody says where. */
export async function listFolders(query: FolderQuery, grant: Grant, cwd: string): Promise<FolderListing> {
  const path = query.path === undefined ? startFolder(grant, cwd) : resolve(cwd, expandHome(query.path));
  // The same words for what is missing and what is somebody else's.
  if (path === undefined || path.includes('\0') || !mayOpen(grant, path)) throw denied(query.path);
  const entries = await readEntries(path, query.path ?? path);
  const folders: { name: string; path: string }[] = [];
  for (const entry of sorted(entries.filter(({ name }) => query.hidden || !name.startsWith('.')))) {
    const folder = { name: entry.name, path: join(path, entry.name) };
    if (!(await isOpenFolder(entry, folder.path, grant))) continue;
    if (folders.length === MAX_FOLDERS) return { ...withParent(path, grant), folders, hasMore: true };
    folders.push(folder);
  }
  return { ...withParent(path, grant), folders, hasMore: false };
}

const startFolder = (grant: Grant, cwd: string) => (mayOpen(grant, cwd) ? cwd : grant.allowedPaths?.[0]);

const expandHome = (path: string) => path.replace(/^~(?=\/|$)/, homedir());

function withParent(path: string, grant: Grant): Pick<FolderListing, 'path' | 'parent'> {
  const parent = dirname(path);
  return parent !== path && mayOpen(grant, parent) ? { path, parent } : { path };
}

async function readEntries(path: string, name: string): Promise<Dirent[]> {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES' || code === 'EPERM') {
      throw new Refusal('permission_denied', `This folder cannot be read: ${name}`, { cause: error });
    }
    throw new Refusal('not_found', `There is no such folder: ${name}`, { cause: error });
  }
}

function sorted(entries: readonly Dirent[]): Dirent[] {
  const { compare } = new Intl.Collator('en', { numeric: true });
  return [...entries].sort((one, other) => compare(one.name, other.name));
}

/** A link counts as what it leads to, unless that is out of bounds. */
async function isOpenFolder(entry: Dirent, path: string, grant: Grant): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  if (!mayOpen(grant, path)) return false;
  const target = await stat(path).catch(() => undefined);
  return target?.isDirectory() ?? false;
}

/** Says nothing that was not said to us. */
const denied = (path = 'name a folder that you may open') =>
  new Refusal('permission_denied', `Permission denied: ${path}`);
