import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readManifest } from './manifest.ts';

const SOURCE = /\.(?:[cm]?ts|[cm]?js)$/;
const INDEXES = ['index.ts', 'index.js', 'index.mts', 'index.mjs', 'index.cts', 'index.cjs'];

/** What is found wrong on the way. */
export type Warn = (warning: string) => void;

/** A file that is an extension, and the folder that it belongs to. */
export interface Entry {
  readonly path: string;
  readonly baseDir: string;
}

/** The extensions in a folder of extensions: its files, and what the folders in it are. None where it is missing. */
export function entriesIn(folder: string, warn: Warn): Entry[] {
  return entriesBelow(folder, warn, (path) => packageEntries(path, warn) ?? indexOf(path));
}

/** The extensions that a path means which somebody wrote down: a file, a package, or a folder of extensions. */
export function entriesAt(path: string, warn: Warn): Entry[] {
  const kind = kindOf(path);
  if (kind === 'file') return [{ path, baseDir: dirname(path) }];
  if (kind === undefined) {
    warn(`There is no extension at ${path}`);
    return [];
  }
  const own = packageEntries(path, warn) ?? indexOf(path);
  if (own) return own.map((entry) => ({ path: entry, baseDir: path }));
  const usual = join(path, 'extensions');
  const inside = entriesIn(kindOf(usual) === 'folder' ? usual : path, warn);
  if (inside.length === 0) warn(`There is no extension in ${path}`);
  return inside;
}

/** The extensions that the package in a folder names; undefined when it names none. */
function packageEntries(folder: string, warn: Warn): string[] | undefined {
  return readManifest(folder, warn)
    ?.paths('extensions')
    ?.flatMap((path) => {
      const kind = kindOf(path);
      if (kind === 'file') return [path];
      // What packages say is not listened to any more: it could lead round in a ring.
      if (kind === 'folder') return indexOf(path) ?? entriesBelow(path, warn, indexOf).map((entry) => entry.path);
      warn(`There is no extension at ${path}`);
      return [];
    });
}

function entriesBelow(folder: string, warn: Warn, ofFolder: (path: string) => string[] | undefined): Entry[] {
  return namesIn(folder, warn).flatMap((name): Entry[] => {
    const path = join(folder, name);
    const kind = kindOf(path);
    if (kind === 'folder') return (ofFolder(path) ?? []).map((entry) => ({ path: entry, baseDir: path }));
    return kind === 'file' && isSource(name) ? [{ path, baseDir: folder }] : [];
  });
}

function indexOf(folder: string): string[] | undefined {
  const index = INDEXES.map((name) => join(folder, name)).find((path) => kindOf(path) === 'file');
  return index === undefined ? undefined : [index];
}

/** In an order that does not depend on the machine; what is hidden, and packages that are used, are left out. */
export function namesIn(folder: string, warn: Warn): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => !name.startsWith('.') && name !== 'node_modules')
      .sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') warn(`${folder} cannot be read (${code})`);
    return [];
  }
}

/** Links are followed. What is neither, such as a pipe, is nothing. */
export function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? 'file' : stats?.isDirectory() ? 'folder' : undefined;
  } catch {
    return undefined;
  }
}

const isSource = (name: string): boolean => SOURCE.test(name) && !/\.d\.[cm]?ts$/.test(name);
