import { join, relative } from 'node:path';
import { fileGlob } from '../../agent/tools/glob.ts';
import type { PackageSetting } from '../../store/settings.ts';
import type { ExtensionSource } from './find-extensions.ts';
import { entriesAt, kindOf, namesIn, type Warn } from './folder-entries.ts';
import { type ResourceKind, readManifest } from './manifest.ts';
import { notInstalled, type PackagePlace, type PackagePlaces, placeOfPackage } from './package-place.ts';

/** What packages bring along. */
export interface PackageResources {
  readonly extensions: readonly ExtensionSource[];
  /** Files and folders. */
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * What the packages bring along that settings name. tau installs none: one that is not there is told by a warning.
 *
 * A package without a word about pi in its package.json has folders by these names.
 */
export function packageResources(packages: readonly PackageSetting[], places: PackagePlaces): PackageResources {
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const extensions: ExtensionSource[] = [];
  const skills: string[] = [];
  const prompts: string[] = [];
  for (const setting of packages) {
    const filter = typeof setting === 'string' ? { source: setting } : setting;
    const place = placeOfPackage(filter.source, places);
    if (!place) {
      warn(notInstalled(filter.source));
      continue;
    }
    const pathsOf = (kind: ResourceKind) => chosen(filter[kind], resourcesOf(place, kind, warn), { kind, place });
    extensions.push(...pathsOf('extensions').map((path) => extensionOf(path, place)));
    skills.push(...pathsOf('skills'));
    prompts.push(...pathsOf('prompts'));
  }
  return { extensions, skills, prompts, warnings };
}

const extensionOf = (path: string, { path: baseDir, scope }: PackagePlace): ExtensionSource => ({
  path,
  scope,
  origin: 'package',
  baseDir,
});

/** Of extensions the files; of the rest what was named, or the folder that is named after it. */
function resourcesOf({ path }: PackagePlace, kind: ResourceKind, warn: Warn): string[] {
  if (kindOf(path) === 'file') return kind === 'extensions' ? [path] : [];
  const manifest = readManifest(path, warn);
  const folder = join(path, kind);
  const usual = kindOf(folder) === 'folder' ? [folder] : [];
  const paths = manifest ? (manifest.paths(kind) ?? []) : usual;
  return kind === 'extensions' ? paths.flatMap((one) => entriesAt(one, warn).map((entry) => entry.path)) : paths;
}

/** What is left of the resources of a package when the settings choose among them. */
function chosen(
  patterns: readonly string[] | undefined,
  paths: readonly string[],
  { kind, place }: { kind: ResourceKind; place: PackagePlace },
): readonly string[] {
  if (patterns === undefined) return paths;
  if (patterns.length === 0) return [];
  const single = kind === 'extensions' ? paths : paths.flatMap(inside);
  const named = (sign: string) => patterns.filter((one) => one.startsWith(sign)).map((one) => one.slice(1));
  const wanted = patterns.filter((one) => !/^[!+-]/.test(one));
  const fits = (path: string, globs: readonly string[]) =>
    globs.some((glob) =>
      [path, join(path, 'SKILL.md')].some((one) => fileGlob(glob)(relative(place.path, one), false)),
    );
  const is = (path: string, exact: readonly string[]) => exact.some((one) => join(place.path, one) === path);
  return single.filter((path) => {
    if (is(path, named('+'))) return true;
    if (is(path, named('-')) || fits(path, named('!'))) return false;
    return wanted.length === 0 || fits(path, wanted);
  });
}

/** The skills or prompts in a folder, one by one. */
function inside(path: string): string[] {
  if (kindOf(path) !== 'folder' || kindOf(join(path, 'SKILL.md')) === 'file') return [path];
  return namesIn(path, () => {}).map((name) => join(path, name));
}
