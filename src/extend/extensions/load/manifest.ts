import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileGlob } from '../../../agent/tools/search/glob.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { isObject, type JsonObject } from '../../../protocol/json.ts';
import { readJsonObject } from '../../../store/json-file.ts';

export type ResourceKind = 'extensions' | 'skills' | 'prompts';

/** The `pi` section of a `package.json`. */
export interface Manifest {
  /** The listed paths of a kind; undefined if the section does not mention it. */
  readonly paths: (kind: ResourceKind) => string[] | undefined;
}

/** Reads the `pi` section; undefined if there is none. */
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

// Plain paths stay even if they do not exist; patterns are expanded; `!` patterns exclude.
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

/** The search of a package ends after this number of paths. */
export const MAX_PATHS = 10_000;

/** All paths below a folder without hidden names and `node_modules`. Links are listed, not followed. */
export function pathsBelow(root: string): string[] {
  const found: string[] = [];
  const folders = [root];
  for (const folder of folders) {
    for (const entry of entriesOf(folder)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
      if (found.length === MAX_PATHS) return found;
      const path = join(folder, entry.name);
      found.push(path);
      if (entry.isDirectory()) folders.push(path);
    }
  }
  return found;
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
