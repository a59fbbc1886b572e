import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { realPath } from './real-path.ts';
import { replaceFile } from './replace-file.ts';

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

// Linux: opens a folder that may be entered but not listed. Node has no constant for it.
const O_PATH = 0o10000000;

// A path that changes again each time it is opened is given up after this many attempts.
const MAX_OPEN_ATTEMPTS = 40;

/** Throws if a real path may not be used. */
export type PathCheck = (realPath: string) => void;

/**
 * Resolves every symlink of a path, existing or not, to the path that a check has to judge.
 *
 * Linux: names as typed. Elsewhere: names as the disk stores them, because the file system may ignore case.
 */
export function landingPath(path: string): string {
  const real = realPath(path);
  return hasDescriptorPaths() ? real : storedPath(real);
}

/**
 * Opens the folder of a path after the check of its real path. With `makeFolders` missing folders are made; each is a
 * part of the checked path.
 *
 * Linux: whatever happens to the path afterwards, `Landing` stays in that folder. Elsewhere a folder can be exchanged in
 * the moment between the last comparison and the use.
 */
export function openLanding(path: string, check: PathCheck, options: { makeFolders?: boolean } = {}): Landing {
  for (let attempt = 0; attempt < MAX_OPEN_ATTEMPTS; attempt++) {
    const real = landingPath(path);
    check(real);
    const folder = options.makeFolders ? makeRealFolder(dirname(real)) : openFolderOf(real);
    if (folder) return new Landing(folder, real);
  }
  throw changedMeanwhile(path);
}

function openFolderOf(path: string): OpenFolder | undefined {
  const folder = dirname(path);
  try {
    return openRealFolder(folder);
  } catch (error) {
    // The caller passed the path of the file.
    (error as Error).message = (error as Error).message.replace(`'${folder}'`, `'${path}'`);
    throw error;
  }
}

/** Opens a folder by its real path; undefined if the path leads elsewhere by now. Throws the system's error. */
export function openRealFolder(path: string): OpenFolder | undefined {
  return openFolderAs(path, path);
}

/** A folder that stays the same one, wherever its path leads meanwhile. */
class OpenFolder {
  readonly #fd: number;
  readonly path: string;

  constructor(fd: number, path: string) {
    this.#fd = fd;
    this.path = path;
  }

  /** The path of an entry, or of the folder itself, for calls of the system. */
  at(name = ''): string {
    return `${hasDescriptorPaths() ? descriptorPath(this.#fd) : this.path}/${name}`;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** The error with the path of the folder in place of that of the descriptor. */
  withRealPath(error: unknown): Error {
    const failure = error as NodeJS.ErrnoException;
    const names = new RegExp(`${descriptorPath(this.#fd)}(?!\\d)`, 'g');
    failure.message = failure.message.replaceAll(names, this.path);
    if (failure.path !== undefined) failure.path = failure.path.replaceAll(names, this.path);
    return failure;
  }
}

/** A checked path: an open folder and a name in it. */
export class Landing {
  readonly #folder: OpenFolder;
  readonly #target: string;
  /** The real path. */
  readonly path: string;

  constructor(folder: OpenFolder, path: string) {
    this.#folder = folder;
    this.#target = folder.at(basename(path));
    this.path = path;
  }

  /** Undefined if nothing is there. */
  stats(): Stats | undefined {
    return lstatSync(this.#target, { throwIfNoEntry: false });
  }

  /** Opens the file for reading; never waits for the writer of a pipe. Fails if it has become a symlink. */
  async open(): Promise<FileHandle> {
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    const file = await this.#withRealPath(open(this.#target, flags));
    if (hasDescriptorPaths() || this.#isHere(await file.stat())) return file;
    await file.close();
    throw changedMeanwhile(this.path);
  }

  /** Replaces or creates the file as `replaceFile` does. */
  async replace(text: string): Promise<void> {
    if (!hasDescriptorPaths() && landingPath(this.path) !== this.path) throw changedMeanwhile(this.path);
    await this.#withRealPath(replaceFile(this.#target, text, unresolved));
  }

  close(): void {
    this.#folder.close();
  }

  #isHere(opened: Stats): boolean {
    const now = this.stats();
    return now !== undefined && isSameFile(opened, now) && landingPath(this.path) === this.path;
  }

  async #withRealPath<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw this.#folder.withRealPath(error);
    }
  }
}

/** Opens a folder, made if it is missing, and its missing parents; undefined if the path leads elsewhere by now. */
function makeRealFolder(path: string): OpenFolder | undefined {
  try {
    return openRealFolder(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const parent = makeRealFolder(dirname(path));
  if (!parent) return undefined;
  const target = parent.at(basename(path));
  try {
    makeUnlessThere(target);
    return openFolderAs(target, path);
  } catch (error) {
    throw parent.withRealPath(error);
  } finally {
    parent.close();
  }
}

function makeUnlessThere(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it; a file or a link of that name fails when it is opened as a folder.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/** Opens a folder; undefined if its real path is not the expected one. */
function openFolderAs(path: string, expected: string): OpenFolder | undefined {
  const access = hasDescriptorPaths() ? O_PATH : O_RDONLY;
  const fd = openSync(path, access | O_DIRECTORY | O_NOFOLLOW);
  try {
    if (isFolderAt(fd, expected)) return new OpenFolder(fd, expected);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  closeSync(fd);
  return undefined;
}

function isFolderAt(fd: number, path: string): boolean {
  if (hasDescriptorPaths()) return readlinkSync(descriptorPath(fd)) === path;
  const now = lstatSync(path, { throwIfNoEntry: false });
  return now !== undefined && isSameFile(fstatSync(fd), now) && storedPath(realPath(path)) === path;
}

const hasDescriptorPaths = () => process.platform === 'linux';

// A path below it is resolved from the open folder, as by openat.
const descriptorPath = (fd: number) => `/proc/self/fd/${fd}`;

// The path of a descriptor must stay one: resolved to a real path it could lead elsewhere by now.
const unresolved = (path: string) => path;

const isSameFile = (a: Stats, b: Stats) => a.dev === b.dev && a.ino === b.ino;

/** A path without symlinks with the names that the disk stores, as far as it exists. */
function storedPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(storedPath(parent), basename(path));
  }
}

const changedMeanwhile = (path: string) => new Error(`Changed while it was opened: ${path}`);
