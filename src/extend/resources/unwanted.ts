import { dirname } from 'node:path';
import { fileGlob } from '../../agent/tools/glob.ts';
import { placed, type ResourcePlaces } from './places.ts';

/** A test for files that settings say are not to be used: see `ResourcePlaces.skillPaths`. */
export function unwanted(
  paths: readonly string[],
  from: Pick<ResourcePlaces, 'home' | 'cwd'>,
): (file: string) => boolean {
  const after = (sign: string) => paths.filter((path) => path.startsWith(sign)).map((path) => path.slice(1));
  const excluded = after('-').map((path) => placed(path, from));
  const included = after('+').map((path) => placed(path, from));
  const patterns = after('!').map((pattern) => fileGlob(pattern.includes('/') ? placed(pattern, from) : pattern));
  const fits = (file: string) =>
    patterns.some((pattern) => pattern(file.slice(1), false) || pattern(dirname(file).slice(1), true));
  return (file) => {
    if (excluded.some((path) => isAtOrBelow(file, path))) return true;
    return fits(file) && !included.some((path) => isAtOrBelow(file, path));
  };
}

const isAtOrBelow = (file: string, path: string) => file === path || file.startsWith(`${path}/`);
