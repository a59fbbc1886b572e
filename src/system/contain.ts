import { isAbsolute, relative } from 'node:path';
import { realPath } from './real-path.ts';

/**
 * Whether a path, existing or not, leads to `root` or below it once every symlink is followed.
 *
 * A path that cannot be resolved (link loop, unreadable folder) is not contained. The answer holds for this moment.
 */
export function containedIn(root: string, path: string): boolean {
  try {
    const way = relative(realPath(root), realPath(path));
    return way !== '..' && !way.startsWith('../') && !isAbsolute(way);
  } catch {
    return false;
  }
}
