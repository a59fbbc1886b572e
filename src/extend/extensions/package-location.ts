import { join, resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { kindOf } from './extension-files.ts';

/** Where packages may be. */
export interface PackageRoots {
  readonly agentDir: string;
  readonly cwd: string;
  /** Whether the project's own count. */
  readonly trusted: boolean;
}

export interface PackageLocation {
  readonly path: string;
  readonly scope: 'project' | 'user';
}

/** Where a package is that settings name: `npm:name`, `git:host/path`, an address or a path. Undefined when it is nowhere. */
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

/** Whether this names a package that has to be installed first, and no path. */
export const isPackageSource = (source: string): boolean => /^(?:npm:|git:|git@|https?:|ssh:)/.test(source);

export const notInstalledWarning = (source: string): string => `The package ${source} is not installed; it is ignored`;

/** Below which folder of the agent's a package is installed; undefined for one that is used where it lies. */
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
