import { join, resolve } from 'node:path';
import { expandHome } from '../../../store/agent-dir.ts';
import { realPath } from '../../../system/files/real-path.ts';
import type { ExtensionFactory } from '../extension-api.ts';
import { type ExtensionFile, extensionsAtPath, extensionsInFolder } from './extension-files.ts';
import { isPackageSource, locatePackage, notInstalledWarning } from './package-location.ts';

/** An extension and the location it was found in. */
export interface ExtensionSource {
  /** The file that exports it. */
  readonly path: string;
  readonly scope: 'project' | 'user' | 'temporary';
  readonly origin: 'top-level' | 'package';
  readonly baseDir: string;
  /** The agent folder, or the project's own, in whose `extensions` it was found without being named. */
  readonly discoveredIn?: string;
  /** The exported function of an extension that the embedding program passes without a file. */
  readonly factory?: ExtensionFactory;
}

export interface ExtensionLocations {
  readonly agentDir: string;
  readonly cwd: string;
  /** Whether the project's own extensions count. */
  readonly trusted: boolean;
  /** Files, folders and installed packages from the user's settings. */
  readonly fromSettings?: readonly string[];
  /** Files, folders and installed packages from command line flags. */
  readonly fromFlags: readonly string[];
  readonly fromPackages?: readonly ExtensionSource[];
  /** If false, only the extensions of flags and settings count. */
  readonly discover: boolean;
}

/** Finds the extensions of the project, the user, packages, settings and flags; no file twice. Problems become warnings. */
export function findExtensions(locations: ExtensionLocations): {
  readonly found: readonly ExtensionSource[];
  readonly warnings: readonly string[];
} {
  const { agentDir, cwd, trusted, fromSettings = [], fromFlags, fromPackages = [], discover } = locations;
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const project = trusted ? [join(cwd, '.pi'), join(cwd, '.pi', 'agent')] : [];
  const discoverIn = (folder: string, scope: ExtensionSource['scope']) =>
    extensionsInFolder(join(folder, 'extensions'), warn).map((entry) => ({
      ...toSource(scope)(entry),
      discoveredIn: folder,
    }));
  const found = discover
    ? [...project.flatMap((folder) => discoverIn(folder, 'project')), ...discoverIn(agentDir, 'user'), ...fromPackages]
    : [];
  const add = (name: string, scope: ExtensionSource['scope']) => {
    const path = isPackageSource(name) ? locatePackage(name, locations)?.path : resolve(cwd, expandHome(name));
    if (path === undefined) warn(notInstalledWarning(name));
    else found.push(...extensionsAtPath(path, warn).map(toSource(scope)));
  };
  for (const name of fromSettings) add(name, 'user');
  for (const name of fromFlags) add(name, 'temporary');
  return { found: deduplicate(found), warnings };
}

const toSource =
  (scope: ExtensionSource['scope']) =>
  (entry: ExtensionFile): ExtensionSource => ({ ...entry, scope, origin: 'top-level' });

function deduplicate(sources: readonly ExtensionSource[]): ExtensionSource[] {
  const seen = new Map<string, ExtensionSource>();
  for (const source of sources) {
    const file = realPathOrSelf(source.path);
    if (!seen.has(file)) seen.set(file, source);
  }
  return [...seen.values()];
}

function realPathOrSelf(path: string): string {
  try {
    return realPath(path);
  } catch {
    return path;
  }
}
