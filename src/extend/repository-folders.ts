import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isPathInside } from '../system/files/path-inside.ts';

/** A folder and its parents up to the repository root; the folder alone outside of a repository. */
export function foldersUpToRepository(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

/** The reason against such a path in a project without trust. */
export const OUT_OF_PROJECT = 'it leads out of the project, which is not trusted';

/** Whether a path leads out of the project of this folder: out of its repository, or out of the folder itself. */
export const leadsOutOfProject = (path: string, cwd: string): boolean =>
  !isPathInside(foldersUpToRepository(cwd).at(-1) ?? cwd, path);
