import { join, relative } from 'node:path';
import { fileGlob } from '../../../agent/tools/search/glob.ts';
import type { PackageSetting } from '../../../store/settings.ts';
import { extensionsAtPath, kindOf, listNames, type Warn } from './extension-files.ts';
import type { ExtensionSource } from './find-extensions.ts';
import { type ResourceKind, readManifest } from './manifest.ts';
import { locatePackage, notInstalledWarning, type PackageLocation, type PackageRoots } from './package-location.ts';

/** The resources of installed packages. */
export interface PackageResources {
  readonly extensions: readonly ExtensionSource[];
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
  readonly warnings: readonly string[];
}

/** The resources of the packages in the settings. A missing package gives a warning; without a manifest, folder names count. */
export function packageResources(packages: readonly PackageSetting[], roots: PackageRoots): PackageResources {
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const extensions: ExtensionSource[] = [];
  const skills: string[] = [];
  const prompts: string[] = [];
  for (const setting of packages) {
    const filter = typeof setting === 'string' ? { source: setting } : setting;
    const location = locatePackage(filter.source, roots);
    if (!location) {
      warn(notInstalledWarning(filter.source));
      continue;
    }
    const pathsOf = (kind: ResourceKind) => select(filter[kind], resourcesOf(location, kind, warn), { kind, location });
    extensions.push(...pathsOf('extensions').map((path) => toSource(path, location)));
    skills.push(...pathsOf('skills'));
    prompts.push(...pathsOf('prompts'));
  }
  return { extensions, skills, prompts, warnings };
}

const toSource = (path: string, { path: baseDir, scope }: PackageLocation): ExtensionSource => ({
  path,
  scope,
  origin: 'package',
  baseDir,
});

// Files for extensions; listed paths or the conventional folder for the other kinds.
function resourcesOf({ path }: PackageLocation, kind: ResourceKind, warn: Warn): string[] {
  if (kindOf(path) === 'file') return kind === 'extensions' ? [path] : [];
  const manifest = readManifest(path, warn);
  const folder = join(path, kind);
  const conventional = kindOf(folder) === 'folder' ? [folder] : [];
  const paths = manifest ? (manifest.paths(kind) ?? []) : conventional;
  return kind === 'extensions' ? paths.flatMap((one) => extensionsAtPath(one, warn).map((entry) => entry.path)) : paths;
}

// Applies the patterns of the settings: plain patterns include, `!` excludes, `+` and `-` name exact paths.
function select(
  patterns: readonly string[] | undefined,
  paths: readonly string[],
  { kind, location }: { kind: ResourceKind; location: PackageLocation },
): readonly string[] {
  if (patterns === undefined) return paths;
  if (patterns.length === 0) return [];
  const candidates = kind === 'extensions' ? paths : paths.flatMap(childrenOf);
  const patternsAfter = (sign: string) => patterns.filter((one) => one.startsWith(sign)).map((one) => one.slice(1));
  const included = patterns.filter((one) => !/^[!+-]/.test(one));
  const matchesAny = (path: string, globs: readonly string[]) =>
    globs.some((glob) =>
      [path, join(path, 'SKILL.md')].some((one) => fileGlob(glob)(relative(location.path, one), false)),
    );
  const isListed = (path: string, exact: readonly string[]) => exact.some((one) => join(location.path, one) === path);
  return candidates.filter((path) => {
    if (isListed(path, patternsAfter('+'))) return true;
    if (isListed(path, patternsAfter('-')) || matchesAny(path, patternsAfter('!'))) return false;
    return included.length === 0 || matchesAny(path, included);
  });
}

function childrenOf(path: string): string[] {
  if (kindOf(path) !== 'folder' || kindOf(join(path, 'SKILL.md')) === 'file') return [path];
  return listNames(path, () => {}).map((name) => join(path, name));
}
