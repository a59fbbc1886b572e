import { readlinkSync } from 'node:fs';
import { isAbsolute } from 'node:path';

const MAX_LINKS = 40;

/**
 * Resolves every symlink of a path, whether or not the target exists.
 *
 * Follows the kernel: `link/..` is the parent of the link's target, and a dangling link resolves to its target. `onLink` gets
 * the real path of the folder of each symlink.
 */
export function realPath(path: string, onLink?: (folder: string) => void): string {
  // Throws for an invalid path: one that is too long or contains NUL.
  readLink(path);
  const todo = segments(isAbsolute(path) ? path : `${process.cwd()}/${path}`);
  const real: string[] = [];
  // The number of trailing segments that do not exist: below them nothing is read.
  let missing = 0;
  let links = 0;
  for (let segment = todo.pop(); segment !== undefined; segment = todo.pop()) {
    if (segment === '..') {
      real.pop();
      missing = Math.max(0, missing - 1);
      continue;
    }
    real.push(segment);
    const { exists, target } = missing > 0 ? missingEntry : readLink(`/${real.join('/')}`);
    if (!exists) missing++;
    if (target === undefined) continue;
    if (++links > MAX_LINKS) throw tooManyLinks(path);
    real.pop();
    onLink?.(`/${real.join('/')}`);
    if (isAbsolute(target)) real.length = 0;
    todo.push(...segments(target));
  }
  return `/${real.join('/')}`;
}

/** The parts of a path, last first. */
const segments = (path: string) =>
  path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .reverse();

interface LinkInfo {
  readonly exists: boolean;
  readonly target?: string;
}

const missingEntry: LinkInfo = { exists: false };

function readLink(path: string): LinkInfo {
  try {
    return { exists: true, target: readlinkSync(path) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EINVAL') return { exists: true };
    if (code === 'ENOENT' || code === 'ENOTDIR') return missingEntry;
    throw error;
  }
}

const tooManyLinks = (path: string) =>
  Object.assign(new Error(`ELOOP: too many symbolic links, readlink '${path}'`), {
    code: 'ELOOP',
    syscall: 'readlink',
    path,
  });
