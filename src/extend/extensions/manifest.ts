import { join, relative } from 'node:path';
import { fileGlob } from '../../agent/tools/glob.ts';
import { messageOf } from '../../protocol/errors.ts';
import { isObject, readJsonObject, type JsonObject } from '../../store/json-file.ts';
import { pathsBelow } from './paths-below.ts';

/** What a package brings along. */
export type ResourceKind = 'extensions' | 'skills' | 'prompts';

/** What `package.json` says under `pi`. */
export interface Manifest {
  /** The paths that are named for a kind; undefined where nothing is said of it. */
  readonly paths: (kind: ResourceKind) => string[] | undefined;
}

/** Undefined where there is no package.json, or none that speaks of pi. */
export function readManifest(folder: string, warn: (warning: string) => void): Manifest | undefined {
  const file = join(folder, 'package.json');
  const pi = piSection(file, warn);
  if (!pi) return undefined;
  return {
    paths: (kind) => {
      const listed = pi[kind];
      if (listed === undefined) return undefined;
      if (Array.isArray(listed) && listed.every((one) => typeof one === 'string')) return expand(folder, listed);
      warn(`${file}: pi.${kind} must be a list of paths; it is ignored`);
      return undefined;
    },
  };
}

function piSection(file: string, warn: (warning: string) => void): JsonObject | undefined {
  try {
    const pi = readJsonObject(file)?.['pi'];
    if (pi === undefined || isObject(pi)) return pi;
    warn(`${file}: pi must be an object; it is ignored`);
  } catch (error) {
    warn(`${file}: ${messageOf(error)}; the file is ignored`);
  }
  return undefined;
}

/** Plain paths as they stand, whether or not they exist; what a pattern fits; without what `!` takes away. */
function expand(root: string, patterns: readonly string[]): string[] {
  const excluded = patterns.filter((one) => one.startsWith('!')).map((one) => fileGlob(one.slice(1)));
  const included = patterns.filter((one) => !one.startsWith('!'));
  const paths = included.flatMap((one) => (isPattern(one) ? pathsMatching(root, one) : [join(root, one)]));
  return [...new Set(paths)].filter((path) => !excluded.some((matches) => matches(relative(root, path), false)));
}

function pathsMatching(root: string, pattern: string): string[] {
  const matches = fileGlob(pattern.includes('/') ? pattern : `./${pattern}`);
  return pathsBelow(root).filter((path) => matches(relative(root, path), false));
}

const isPattern = (text: string): boolean => /[*?[{]/.test(text);
