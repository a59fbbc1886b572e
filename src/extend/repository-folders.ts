import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A folder and its parents up to the repository root; the folder alone outside of a repository. */
export function foldersUpToRepository(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}
