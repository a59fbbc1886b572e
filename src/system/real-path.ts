import { readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

const MAX_LINKS = 40;

/**
 * Where a path leads once every symlink is followed, whether or not anything exists there yet.
 *
 * Walks as the kernel does: `link/..` is the parent of the link's target, and a dangling link leads to its target.
 */
export function realPath(path: string): string {
  const todo = segments(isAbsolute(path) ? path : `${process.cwd()}/${path}`);
  let real = '/';
  let links = 0;
  for (let segment = todo.pop(); segment !== undefined; segment = todo.pop()) {
    if (segment === '..') {
      real = dirname(real);
      continue;
    }
    const target = linkTarget(join(real, segment));
    if (target === undefined) {
      real = join(real, segment);
      continue;
    }
    if (++links > MAX_LINKS) throw tooManyLinks(path);
    if (isAbsolute(target)) real = '/';
    todo.push(...segments(target));
  }
  return real;
}

/** The parts of a path, last first. */
const segments = (path: string) =>
  path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .reverse();

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

/** As the kernel says it. */
const tooManyLinks = (path: string) =>
  Object.assign(new Error(`ELOOP: too many symbolic links, readlink '${path}'`), {
    code: 'ELOOP',
    syscall: 'readlink',
    path,
  });
