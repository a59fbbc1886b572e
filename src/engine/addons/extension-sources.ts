import { type ExtensionSource, findExtensions } from '../../extend/extensions/load/find-extensions.ts';
import { type PackageResources, packageResources } from '../../extend/extensions/load/package-resources.ts';
import type { Agent } from '../agent.ts';
import type { AddonPaths } from './detect.ts';

/** Extensions to load, and the resources of the packages that are installed beside them. */
export interface FoundSources {
  readonly sources: readonly ExtensionSource[];
  readonly packages: PackageResources;
  readonly warnings: readonly string[];
}

/** Finds the extensions of the embedding program, the project, the user, packages, settings and flags, in this order. */
export function findSources({ addonPaths, project: { trusted } }: Agent): FoundSources {
  const { agentDir, cwd, settings, options } = addonPaths;
  const discover = options.findExtensions ?? true;
  const packages = packageResources(settings.packages ?? [], { agentDir, cwd, trusted });
  const { found, warnings } = findExtensions({
    agentDir,
    cwd,
    trusted,
    discover,
    fromSettings: (discover ? settings.extensions : []) ?? [],
    fromFlags: options.extensions ?? [],
    fromPackages: packages.extensions,
  });
  return {
    sources: [...embeddedSources(addonPaths), ...found],
    packages,
    warnings: [...packages.warnings, ...warnings],
  };
}

const embeddedSources = ({ cwd, options }: AddonPaths): ExtensionSource[] =>
  [...(options.extensionFactories ?? [])].map(([path, factory]) => {
    return { path, factory, scope: 'temporary', origin: 'top-level', baseDir: cwd };
  });
