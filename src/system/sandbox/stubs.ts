import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guardLeftover, type Leftover, releaseLeftover } from '../processes/guardian.ts';
import { randomBytes } from '../random-bytes.ts';
import { folderIdentity, identityOf, linkStats } from './roots.ts';

// A command could otherwise add these to `.git` to run programs outside.
const HOOKS = 'hooks';
const GIT_FOLDERS = [HOOKS, 'modules', 'worktrees'];
const GIT_FILES: Readonly<Record<string, string>> = { config: '', 'config.worktree': '', commondir: '.\n' };

/** The paths in `.git` that stay read-only with `gitWrite`. */
export const GUARDED_IN_GIT: readonly string[] = [...GIT_FOLDERS, ...Object.keys(GIT_FILES)];

const MARKER_PREFIX = '.tau-sandbox-';

/**
 * Folders and files that a sandbox makes so that they can be mounted over, and removes at its end.
 *
 * Sandboxes share them: each puts a marker, an empty folder, into `.pi` and `.git/hooks`, and the last one removes the
 * stubs. A command whose mount is removed could make the folder again.
 */
export class Stubs {
  readonly #marker = `${MARKER_PREFIX}${process.pid}-${randomBytes(4).toString('hex')}`;
  // In the order of removal.
  readonly #stubs = new Map<string, Stub>();
  /** Another sandbox may exchange a folder above: then something else has the path. */
  readonly #identities = new Map<string, string | undefined>();

  /** Makes a missing `.pi`. */
  addPi(path: string): void {
    if (linkStats(path) && (this.#stubs.has(path) || !this.#isShared(path))) return;
    this.#add([this.#markerIn(path), { kind: 'folder', path, content: '', sharedIn: path }]);
  }

  /** Makes what is missing in `.git`. */
  addToGit(gitFolder: string): void {
    const hooks = join(gitFolder, HOOKS);
    const isShared = this.#isShared(hooks);
    const folders = GIT_FOLDERS.map((name) => ({ kind: 'folder' as const, name, content: '' }));
    const files = Object.entries(GIT_FILES).map(([name, content]) => ({ kind: 'stub' as const, name, content }));
    const missing = [...folders, ...files]
      .map(({ kind, name, content }) => ({ kind, path: join(gitFolder, name), content, sharedIn: hooks }))
      .filter(({ path }) => isShared || !linkStats(path));
    this.#add([this.#markerIn(hooks), ...missing]);
  }

  /** Removes what is as it was made and not in use by another sandbox. */
  remove(): void {
    for (const stub of this.#stubs.values()) {
      const isSame = this.#identities.get(stub.path) === identityOf(stub.path);
      if (isSame && !this.#isShared(stub.sharedIn)) ignoreErrors(() => removeUnchanged(stub));
      releaseLeftover(stub);
    }
    this.#stubs.clear();
    this.#identities.clear();
  }

  #markerIn(folder: string): Stub {
    return { kind: 'folder', path: join(folder, this.#marker), content: '' };
  }

  /** Adds stubs in the order of removal, and makes them in the other. */
  #add(stubs: readonly Stub[]): void {
    const added = stubs.filter(({ path }) => !this.#stubs.has(path));
    for (const stub of added) {
      guardLeftover(stub);
      this.#stubs.set(stub.path, stub);
    }
    // The user may have removed one that was made before.
    for (const stub of stubs.toReversed()) {
      ignoreErrors(() => make(stub));
      this.#identities.set(stub.path, identityOf(stub.path));
    }
  }

  /** Whether another sandbox has a marker in a folder. */
  #isShared(folder: string | undefined): boolean {
    if (folder === undefined || folderIdentity(folder) === undefined) return false;
    return namesIn(folder).some((name) => name.startsWith(MARKER_PREFIX) && name !== this.#marker);
  }
}

interface Stub extends Leftover {
  readonly kind: 'folder' | 'stub';
  readonly content: string;
  // The folder of the markers; markers themselves are not shared.
  readonly sharedIn?: string;
}

function make({ kind, path, content }: Stub): void {
  if (kind === 'folder') mkdirSync(path);
  else writeFileSync(path, content, { flag: 'wx' });
}

function removeUnchanged({ kind, path }: Stub): void {
  if (kind === 'folder') rmdirSync(path);
  else if (['', '.\n'].includes(readFileSync(path, 'utf8'))) rmSync(path);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function ignoreErrors(work: () => void): void {
  try {
    work();
  } catch {
    // It is there, or was changed meanwhile and is the user's, or this user may not write there: then a command may not.
  }
}
