import { isAbsolute, relative } from 'node:path';
import { realPath } from './real-path.ts';

/**
 * Whether a path, existing or not, is `root` or below it once every symlink is followed.
 *
 * A path that cannot be resolved (link loop, unreadable folder) is not inside. A later change of a link is not seen.
 */
export function isPathInside(root: string, path: string): boolean {
  try {
    const fromRoot = relative(realPath(root), realPath(path));
    return fromRoot !== '..' && !fromRoot.startsWith('../') && !isAbsolute(fromRoot);
  } catch {
    return false;
  }
}
