import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guardLeftover, type Leftover, releaseLeftover } from '../processes/guardian.ts';
import { linkStats } from './roots.ts';

// A command could otherwise add these to `.git` to run programs outside.
const GIT_FOLDERS = ['hooks', 'modules', 'worktrees'];
const GIT_FILES: Readonly<Record<string, string>> = { config: '', 'config.worktree': '', commondir: '.\n' };

/** The paths in `.git` that stay read-only with `gitWrite`. */
export const GUARDED_IN_GIT: readonly string[] = [...GIT_FOLDERS, ...Object.keys(GIT_FILES)];

/** Folders and files that a sandbox makes so that they can be mounted over, and removes at its end. */
export class Stubs {
  readonly #made = new Map<string, Leftover>();

  /** Makes what is missing in `.git`. */
  addToGit(gitFolder: string): void {
    for (const name of GIT_FOLDERS) this.addFolder(join(gitFolder, name));
    for (const [name, content] of Object.entries(GIT_FILES)) this.#add('stub', join(gitFolder, name), content);
  }

  addFolder(path: string): void {
    this.#add('folder', path, '');
  }

  /** Removes what is as it was made. */
  remove(): void {
    for (const leftover of this.#made.values()) {
      ignoreErrors(() => (leftover.kind === 'folder' ? rmdirSync(leftover.path) : removeUnchanged(leftover.path)));
      releaseLeftover(leftover);
    }
    this.#made.clear();
  }

  #add(kind: 'folder' | 'stub', path: string, content: string): void {
    if (linkStats(path)) return;
    const leftover = { kind, path };
    guardLeftover(leftover);
    this.#made.set(path, leftover);
    // Without the right to write there, a command has none either.
    ignoreErrors(() => (kind === 'folder' ? mkdirSync(path) : writeFileSync(path, content, { flag: 'wx' })));
  }
}

function removeUnchanged(path: string): void {
  if (['', '.\n'].includes(readFileSync(path, 'utf8'))) rmSync(path);
}

function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {
    // It was removed or changed meanwhile: then it is the user's.
  }
}
