import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readManifest } from './manifest.ts';

const SOURCE_FILE = /\.(?:[cm]?ts|[cm]?js)$/;
const INDEX_NAMES = ['index.ts', 'index.js', 'index.mts', 'index.mjs', 'index.cts', 'index.cjs'];

/** What is found wrong on the way. */
export type Warn = (warning: string) => void;

/** A file that is an extension, and the folder that it belongs to. */
export interface ExtensionFile {
  readonly path: string;
  readonly baseDir: string;
}

/** The extensions in a folder of extensions: its files, and what the folders in it are. None where it is missing. */
export function extensionsInFolder(folder: string, warn: Warn): ExtensionFile[] {
  return filesBelow(folder, warn, (path) => packageExtensions(path, warn) ?? indexFile(path));
}

/** The extensions that a path means which somebody wrote down: a file, a package, or a folder of extensions. */
export function extensionsAtPath(path: string, warn: Warn): ExtensionFile[] {
  const kind = kindOf(path);
  if (kind === 'file') return [{ path, baseDir: dirname(path) }];
  if (kind === undefined) {
    warn(`There is no extension at ${path}`);
    return [];
  }
  const entryPaths = packageExtensions(path, warn) ?? indexFile(path);
  if (entryPaths) return entryPaths.map((entry) => ({ path: entry, baseDir: path }));
  const conventional = join(path, 'extensions');
  const inside = extensionsInFolder(kindOf(conventional) === 'folder' ? conventional : path, warn);
  if (inside.length === 0) warn(`There is no extension in ${path}`);
  return inside;
}

/** The extensions that the package in a folder names; undefined when it names none. */
function packageExtensions(folder: string, warn: Warn): string[] | undefined {
  return readManifest(folder, warn)
    ?.paths('extensions')
    ?.flatMap((path) => {
      const kind = kindOf(path);
      if (kind === 'file') return [path];
      // What packages say is not listened to any more: it could lead round in a ring.
      if (kind === 'folder') return indexFile(path) ?? filesBelow(path, warn, indexFile).map((entry) => entry.path);
      warn(`There is no extension at ${path}`);
      return [];
    });
}

function filesBelow(folder: string, warn: Warn, inFolder: (path: string) => string[] | undefined): ExtensionFile[] {
  return listNames(folder, warn).flatMap((name): ExtensionFile[] => {
    const path = join(folder, name);
    const kind = kindOf(path);
    if (kind === 'folder') return (inFolder(path) ?? []).map((entry) => ({ path: entry, baseDir: path }));
    return kind === 'file' && isSourceFile(name) ? [{ path, baseDir: folder }] : [];
  });
}

function indexFile(folder: string): string[] | undefined {
  const index = INDEX_NAMES.map((name) => join(folder, name)).find((path) => kindOf(path) === 'file');
  return index === undefined ? undefined : [index];
}

/** In an order that does not depend on the machine; what is hidden, and packages that are used, are left out. */
export function listNames(folder: string, warn: Warn): string[] {
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

const isSourceFile = (name: string): boolean => SOURCE_FILE.test(name) && !/\.d\.[cm]?ts$/.test(name);
