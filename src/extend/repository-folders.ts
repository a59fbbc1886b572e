import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A folder and those above it as far as its repository reaches; the folder alone where there is none. */
export function foldersUpToRepository(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}
