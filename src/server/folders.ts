import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Refusal } from '../protocol/errors.ts';
import { type Grant, mayOpen } from './auth/grant.ts';

// A listing holds at most this many folders.
const MAX_FOLDERS = 1000;

export interface FolderQuery {
  /** Defaults to the default cwd, or to the first allowed folder. */
  readonly path?: string | undefined;
  /** Includes names that begin with a dot. */
  readonly hidden: boolean;
}

/** The subfolders of a folder in which a session could start. */
export interface FolderListing {
  readonly path: string;
  /** Absent if the grant does not allow it. */
  readonly parent?: string;
  readonly folders: readonly { readonly name: string; readonly path: string }[];
  readonly hasMore: boolean;
}

/** Lists the subfolders of a folder by name. `cwd` is the default for new sessions. */
export async function listFolders(query: FolderQuery, grant: Grant, cwd: string): Promise<FolderListing> {
  const path = query.path === undefined ? startFolder(grant, cwd) : resolve(cwd, expandHome(query.path));
  // A missing and a forbidden path get the same message.
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

/** A link counts as its target if the grant allows that. */
async function isOpenFolder(entry: Dirent, path: string, grant: Grant): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  if (!mayOpen(grant, path)) return false;
  const target = await stat(path).catch(() => undefined);
  return target?.isDirectory() ?? false;
}

/** Repeats only text that the client sent. */
const denied = (path = 'name a folder that you may open') =>
  new Refusal('permission_denied', `Permission denied: ${path}`);
