import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The version of pi whose names and behaviour tau has: extensions compare it. */
export const VERSION = '1.5.0';
export const CONFIG_DIR_NAME = '.pi';

export function getPackageDir(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

export const getDocsPath = (): string => join(getPackageDir(), 'docs');
export const getExamplesPath = (): string => join(getPackageDir(), 'examples');
export const getReadmePath = (): string => join(getPackageDir(), 'README.md');

interface Source {
  readonly source: string;
  readonly scope?: string;
  readonly origin?: string;
  readonly baseDir?: string;
}

/** The source of an item without a file. */
export const createSyntheticSourceInfo = (path: string, source: Source) => ({
  path,
  scope: 'temporary',
  origin: 'top-level',
  ...source,
});
