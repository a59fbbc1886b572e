import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readManifest } from './manifest.ts';

const SOURCE_FILE = /\.(?:[cm]?ts|[cm]?js)$/;
const INDEX_NAMES = ['index.ts', 'index.js', 'index.mts', 'index.mjs', 'index.cts', 'index.cjs'];

export type Warn = (warning: string) => void;

/** The main file of an extension, and the folder it belongs to. */
export interface ExtensionFile {
  readonly path: string;
  readonly baseDir: string;
}

/** The extensions in a folder of extensions: its files, and the packages or index files of its subfolders. */
export function extensionsInFolder(folder: string, warn: Warn): ExtensionFile[] {
  return filesBelow(folder, warn, (path) => packageExtensions(path, warn) ?? indexFile(path));
}

/** The extensions at a configured path: a file, a package, or a folder of extensions. */
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

// The extensions in the manifest of a folder; undefined if it lists none.
function packageExtensions(folder: string, warn: Warn): string[] | undefined {
  return readManifest(folder, warn)
    ?.paths('extensions')
    ?.flatMap((path) => {
      const kind = kindOf(path);
      if (kind === 'file') return [path];
      // Nested manifests are ignored: they could refer to each other in a ring.
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

/** The names in a folder in a fixed order, without hidden ones and `node_modules`. */
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

/** Follows links. Undefined for anything else, such as a pipe. */
export function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() ? 'file' : stats?.isDirectory() ? 'folder' : undefined;
  } catch {
    return undefined;
  }
}

const isSourceFile = (name: string): boolean => SOURCE_FILE.test(name) && !/\.d\.[cm]?ts$/.test(name);
