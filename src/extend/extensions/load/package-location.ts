import { join, resolve } from 'node:path';
import { expandHome } from '../../../store/agent-dir.ts';
import { kindOf } from './extension-files.ts';

/** The folders in which packages may be installed. */
export interface PackageRoots {
  readonly agentDir: string;
  readonly cwd: string;
  /** Whether the project's own packages count. */
  readonly trusted: boolean;
}

export interface PackageLocation {
  readonly path: string;
  readonly scope: 'project' | 'user';
}

/** Locates a package by its source: `npm:name`, `git:host/path`, a URL or a path. */
export function locatePackage(source: string, { agentDir, cwd, trusted }: PackageRoots): PackageLocation | undefined {
  if (source.trim() === '') return undefined;
  const installed = installFolder(source);
  const folderOrPath = installed ?? expandHome(source);
  const projects = trusted ? [join(cwd, '.pi'), join(cwd, '.pi', 'agent')] : [];
  const candidates: PackageLocation[] = [
    ...projects.map((folder) => ({ path: resolve(folder, folderOrPath), scope: 'project' as const })),
    { path: resolve(agentDir, folderOrPath), scope: 'user' },
  ];
  return candidates.find(({ path }) => kindOf(path) !== undefined);
}

/** True if the source must be installed first, false for a path. */
export const isPackageSource = (source: string): boolean => /^(?:npm:|git:|git@|https?:|ssh:)/.test(source);

export const notInstalledWarning = (source: string): string => `The package ${source} is not installed; it is ignored`;

// The folder of an installed package, relative to the agent folder; undefined for a path.
function installFolder(source: string): string | undefined {
  const npm = /^npm:(@?[^@]+)/.exec(source)?.[1];
  if (npm !== undefined) return join('npm', 'node_modules', npm);
  if (!isPackageSource(source)) return undefined;
  const address = source
    .replace(/^git:/, '')
    .replace(/^\w+:\/\//, '')
    .replace(/^[^@/]+@/, '')
    .replace(':', '/');
  return join('git', address.replace(/@[^@/]*$/, '').replace(/\.git$/, ''));
}
