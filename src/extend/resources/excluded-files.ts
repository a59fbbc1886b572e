import { dirname } from 'node:path';
import { fileGlob } from '../../agent/tools/glob.ts';
import { resolvePath, type ResourceOptions } from './search-roots.ts';

/** A test for files that the settings exclude; see `ResourceOptions.skillPaths`. */
export function excludedFiles(
  paths: readonly string[],
  from: Pick<ResourceOptions, 'home' | 'cwd'>,
): (file: string) => boolean {
  const after = (sign: string) => paths.filter((path) => path.startsWith(sign)).map((path) => path.slice(1));
  const excluded = after('-').map((path) => resolvePath(path, from));
  const included = after('+').map((path) => resolvePath(path, from));
  const patterns = after('!').map((pattern) => fileGlob(pattern.includes('/') ? resolvePath(pattern, from) : pattern));
  const matches = (file: string) =>
    patterns.some((pattern) => pattern(file.slice(1), false) || pattern(dirname(file).slice(1), true));
  return (file) => {
    if (excluded.some((path) => isAtOrBelow(file, path))) return true;
    return matches(file) && !included.some((path) => isAtOrBelow(file, path));
  };
}

const isAtOrBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`);
