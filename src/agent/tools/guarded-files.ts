import type { Dirent } from 'node:fs';
import { type FileHandle, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Landing,
  landingPath,
  openLanding,
  openRealFolder,
  type PathCheck,
} from '../../system/files/open-inside.ts';
import type { FileAccess } from '../permission.ts';
import { rejectSpecialFile } from './file-checks.ts';

/** A path of a call whose access is limited. */
export interface GuardedPath {
  /** As the model wrote it. */
  readonly path: string;
  /** The absolute path, with symlinks. */
  readonly target: string;
  readonly files: FileAccess;
}

/** Opens a regular file for reading if its real path may be read. */
export async function openReadable(guarded: GuardedPath): Promise<FileHandle> {
  const landing = openLanding(guarded.target, readCheck(guarded));
  try {
    return await openLanded(landing);
  } finally {
    landing.close();
  }
}

/** Opens the regular file of a checked path for reading. */
export async function openLanded(landing: Landing): Promise<FileHandle> {
  const stats = landing.stats();
  // A device is not even opened.
  if (stats) rejectSpecialFile(landing.path, stats);
  const file = await landing.open();
  try {
    rejectSpecialFile(landing.path, await file.stat());
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Edits the file of a path that may be read and changed: `work` sees the same file from its check to its end. */
export const withEditable = <T>(guarded: GuardedPath, work: (landing: Landing) => Promise<T>): Promise<T> =>
  withLanding(openLanding(guarded.target, all(readCheck(guarded), writeCheck(guarded))), work);

/** Writes the file of a path that may be changed; its missing folders are made. */
export const withWritable = <T>(guarded: GuardedPath, work: (landing: Landing) => Promise<T>): Promise<T> =>
  withLanding(openLanding(guarded.target, writeCheck(guarded), { makeFolders: true }), work);

/** The real path of a search root that may be read. */
export function readableRoot(guarded: GuardedPath): string {
  const real = landingPath(guarded.target);
  readCheck(guarded)(real);
  return real;
}

/** Reads a folder by its real path, without hidden entries. Fails if the path leads elsewhere by now. */
export async function readVisibleEntries(path: string, files: FileAccess): Promise<Dirent[]> {
  const folder = openRealFolder(path);
  if (!folder) throw new Error(`Changed while it was read: ${path}`);
  try {
    const entries = await readdir(folder.at(), { withFileTypes: true });
    return entries.filter((entry) => isVisible(join(path, entry.name), entry, files));
  } catch (error) {
    throw folder.withRealPath(error);
  } finally {
    folder.close();
  }
}

/** Tests files by their paths relative to a real folder; lines of one file come one after another. */
export function readableBelow(folder: string, files: FileAccess): (path: string) => boolean {
  let last: { readonly path: string; readonly isReadable: boolean } | undefined;
  return (path) => {
    if (last?.path !== path) last = { path, isReadable: isReadable(join(folder, path), files) };
    return last.isReadable;
  };
}

/** A link to a hidden file is hidden too; one that leads nowhere is not. */
function isVisible(path: string, entry: Dirent, files: FileAccess): boolean {
  if (!files.mayRead(path)) return false;
  const landing = entry.isSymbolicLink() ? landingIfAny(path) : undefined;
  return landing === undefined || files.mayRead(landing);
}

function isReadable(path: string, files: FileAccess): boolean {
  const landing = landingIfAny(path);
  return landing !== undefined && files.mayRead(landing);
}

/** Undefined for a loop of links, and below an unreadable folder. */
function landingIfAny(path: string): string | undefined {
  try {
    return landingPath(path);
  } catch {
    return undefined;
  }
}

const readCheck =
  ({ path, files }: GuardedPath): PathCheck =>
  (real) => {
    if (!files.mayRead(real)) throw new Error(`${path} is hidden.`);
  };

const writeCheck =
  ({ path, files }: GuardedPath): PathCheck =>
  (real) => {
    if (!files.mayWrite(real)) throw new Error(`${path} lies outside of what may be changed.`);
  };

const all =
  (...checks: readonly PathCheck[]): PathCheck =>
  (real) => {
    for (const check of checks) check(real);
  };

async function withLanding<T>(landing: Landing, work: (landing: Landing) => Promise<T>): Promise<T> {
  try {
    return await work(landing);
  } finally {
    landing.close();
  }
}
