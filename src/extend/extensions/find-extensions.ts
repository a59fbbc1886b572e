import { join, resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { realPath } from '../../system/files/real-path.ts';
import type { ExtensionFactory } from './extension-api.ts';
import { type Entry, entriesAt, entriesIn } from './folder-entries.ts';
import { isPackageSource, notInstalled, placeOfPackage } from './package-place.ts';

/** An extension that was found. */
export interface ExtensionSource {
  /** The file that exports it. */
  readonly path: string;
  readonly scope: 'project' | 'user' | 'temporary';
  readonly origin: 'top-level' | 'package';
  readonly baseDir: string;
  /** What the file exports, where there is no file: the program around the agent brings it along. */
  readonly factory?: ExtensionFactory;
}

export interface ExtensionPlaces {
  readonly agentDir: string;
  readonly cwd: string;
  /** Whether the project's own count. */
  readonly trusted: boolean;
  /** Files, folders and installed packages that the user's settings name. */
  readonly settled?: readonly string[];
  /** Those that flags name. */
  readonly named: readonly string[];
  /** Those of packages. */
  readonly packaged?: readonly ExtensionSource[];
  /** False: only what is named. */
  readonly find: boolean;
}

/**
 * The extensions of the project, then the user's, those of packages, then those that are named. A file that is found
 * twice counts where it was found first.
 *
 * Never throws: what makes no sense is left out and told by a warning.
 */
export function findExtensions(places: ExtensionPlaces): {
  readonly found: readonly ExtensionSource[];
  readonly warnings: readonly string[];
} {
  const { agentDir, cwd, trusted, settled = [], named, packaged = [], find } = places;
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const project = trusted ? [join(cwd, '.pi', 'extensions'), join(cwd, '.pi', 'agent', 'extensions')] : [];
  const found = find
    ? [
        ...project.flatMap((folder) => entriesIn(folder, warn).map(from('project'))),
        ...entriesIn(join(agentDir, 'extensions'), warn).map(from('user')),
        ...packaged,
      ]
    : [];
  const add = (name: string, scope: ExtensionSource['scope']) => {
    const path = isPackageSource(name) ? placeOfPackage(name, places)?.path : resolve(cwd, expandHome(name));
    if (path === undefined) warn(notInstalled(name));
    else found.push(...entriesAt(path, warn).map(from(scope)));
  };
  for (const name of settled) add(name, 'user');
  for (const name of named) add(name, 'temporary');
  return { found: eachOnce(found), warnings };
}

const from =
  (scope: ExtensionSource['scope']) =>
  (entry: Entry): ExtensionSource => ({ ...entry, scope, origin: 'top-level' });

function eachOnce(sources: readonly ExtensionSource[]): ExtensionSource[] {
  const seen = new Map<string, ExtensionSource>();
  for (const source of sources) {
    const file = fileAt(source.path);
    if (!seen.has(file)) seen.set(file, source);
  }
  return [...seen.values()];
}

/** Where a path leads; itself where that cannot be told. */
function fileAt(path: string): string {
  try {
    return realPath(path);
  } catch {
    return path;
  }
}
