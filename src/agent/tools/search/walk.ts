import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { isTemporaryName } from '../../../system/files/atomic-write.ts';
import { throwIfAborted } from '../../unless-aborted.ts';
import { IgnoreRules } from './ignore-rules.ts';

// Number of folders that are read ahead.
const READ_AHEAD = 8;

// Longest synchronous work before the walk yields to the event loop.
const SLICE_MS = 10;

export interface WalkOptions {
  readonly signal: AbortSignal;
  /** Receives a path relative to the root; returns whether to continue. */
  readonly visit: (path: string, isFolder: boolean) => boolean;
  /** Lists a folder; by default with all of its entries. */
  readonly readFolder?: ReadFolder | undefined;
}

type ReadFolder = (path: string) => Promise<Dirent[]>;

/**
 * Visits everything below a folder that no .gitignore hides, in name order, a folder before its content. Does not
 * follow symlinks. Skips `.git`, files that tau
 * is writing, and the content of folders that are unreadable or not named in UTF-8. Throws on abort.
 */
export async function walk(root: string, options: WalkOptions): Promise<void> {
  const entries = readEntries(root, options.readFolder);
  await new Walker(root, options).walkFolder({ path: root, entries, outer: await IgnoreRules.above(root) });
}

interface Folder {
  readonly path: string;
  readonly entries: Promise<Dirent[]>;
  readonly outer: IgnoreRules | undefined;
}

class Walker {
  readonly #prefix: number;
  readonly #options: WalkOptions;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(root: string, options: WalkOptions) {
    this.#prefix = joinPath(root, '').length;
    this.#options = options;
  }

  /** Returns false once `visit` has. */
  async walkFolder({ path, entries, outer }: Folder): Promise<boolean> {
    const all = await entries;
    const rules = await rulesIn(path, all, outer);
    const visible: Dirent[] = [];
    for (const entry of all) {
      if (this.#mustPause()) await this.#pause();
      const isHidden = entry.name === '.git' || isTemporaryName(entry.name);
      const isIgnored = isHidden || rules?.ignores(joinPath(path, entry.name), isFolder(entry));
      if (!isIgnored) visible.push(entry);
    }
    const folders = visible.filter(isFolder).map(({ name }) => joinPath(path, name));
    const nextFolder = readAhead(folders, this.#options.readFolder);
    for (const entry of visible) {
      if (this.#mustPause()) await this.#pause();
      if (!this.#options.visit(joinPath(path, entry.name).slice(this.#prefix), isFolder(entry))) return false;
      if (isFolder(entry) && !(await this.walkFolder({ ...nextFolder(), outer: rules }))) return false;
    }
    return true;
  }

  #mustPause(): boolean {
    return this.#options.signal.aborted || performance.now() > this.#sliceEnd;
  }

  async #pause(): Promise<void> {
    await setImmediate();
    this.#sliceEnd = performance.now() + SLICE_MS;
    throwIfAborted(this.#options.signal);
  }
}

const isFolder = (entry: Dirent) => entry.isDirectory();

const joinPath = (folder: string, name: string) => (folder.endsWith('/') ? folder + name : `${folder}/${name}`);

const readAll: ReadFolder = (path) => readdir(path, { withFileTypes: true });

async function readEntries(folder: string, read = readAll): Promise<Dirent[]> {
  const entries = await read(folder).catch(() => []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Rules for the content of a folder. A nested repository ignores outer rules. */
async function rulesIn(path: string, entries: readonly Dirent[], outer: IgnoreRules | undefined) {
  const has = (name: string) => entries.some((entry) => entry.name === name);
  const inherited = has('.git') ? undefined : outer;
  return has('.gitignore') ? IgnoreRules.at(path, inherited) : inherited;
}

/** Returns folders in order while the next ones are being read. */
function readAhead(paths: readonly string[], read?: ReadFolder): () => Pick<Folder, 'path' | 'entries'> {
  const reading: Pick<Folder, 'path' | 'entries'>[] = [];
  let started = 0;
  return () => {
    for (const path of paths.slice(started, started + READ_AHEAD - reading.length)) {
      reading.push({ path, entries: readEntries(path, read) });
      started++;
    }
    return reading.shift() as Pick<Folder, 'path' | 'entries'>;
  };
}
