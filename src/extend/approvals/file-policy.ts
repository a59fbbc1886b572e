import { join, sep } from 'node:path';
import type { FileAccess } from '../../agent/permission.ts';
import { isBelow } from '../../system/sandbox/roots.ts';

/** The folders and paths that decide about files; all are real paths. */
export interface FilePolicyParts {
  /** Folders in which files may be changed. */
  readonly writable: readonly string[];
  /** Finds the files and folders that are not read; called when the first file is judged. */
  readonly hidden: () => readonly string[];
  /** Files and folders inside hidden ones that are read. */
  readonly readable: readonly string[];
  /** Whether a rule denies to read a file. */
  readonly isReadDenied: (path: string) => boolean;
  /** Folders in whose place the sandbox shows others. */
  readonly replaced: readonly string[];
  /** The folder of the session, which the sandbox shows also inside replaced ones. */
  readonly cwd: string;
  /** The folder that is `/tmp` in the sandbox, while there is one. */
  readonly tmp: string | undefined;
}

// File systems may ignore case.
const PROTECTED_NAMES = new Set(['.git', '.pi']);

/** The paths that the file tools of one call may use. */
export class FilePolicy implements FileAccess {
  readonly #parts: FilePolicyParts;
  readonly #approved = new Set<string>();
  #hidden: readonly string[] | undefined;

  constructor(parts: FilePolicyParts) {
    this.#parts = parts;
  }

  get hidden(): readonly string[] {
    this.#hidden ??= this.#parts.hidden();
    return this.#hidden;
  }

  readonly translate = (path: string): string => {
    const { tmp } = this.#parts;
    if (tmp === undefined || !isBelow(path, '/tmp') || isBelow(path, tmp)) return path;
    // The sandbox shows writable folders below /tmp under their own names.
    return this.#parts.writable.some((root) => isBelow(path, root)) ? path : join(tmp, path.slice('/tmp'.length));
  };

  readonly mayRead = (path: string): boolean =>
    this.#approved.has(path) || (!this.isHidden(path) && !this.#parts.isReadDenied(path));

  readonly mayWrite = (path: string): boolean =>
    this.#approved.has(path) || (this.isInWritableRoot(path) && !this.isProtected(path) && !this.isHidden(path));

  /** Allows this call to use exactly this real path. */
  approve(path: string): void {
    this.#approved.add(path);
  }

  isInWritableRoot(path: string): boolean {
    const { writable, tmp } = this.#parts;
    return [...writable, ...(tmp === undefined ? [] : [tmp])].some((root) => isBelow(path, root));
  }

  /** Whether a path is in `.git` or `.pi` of a writable folder, or in that of a folder below it. */
  isProtected(path: string): boolean {
    const root = this.#parts.writable.find((folder) => isBelow(path, folder));
    const names = root === undefined ? [] : path.slice(root.length).toLowerCase().split(sep);
    return names.some((name) => PROTECTED_NAMES.has(name));
  }

  isHidden(path: string): boolean {
    const { readable } = this.#parts;
    const isListed = isBelowAny(path, this.hidden) && !isBelowAny(path, readable);
    return isListed || this.#isReplaced(path);
  }

  /** Links and `/proc/self/root` lead to the files of the host, which no command of the session sees. */
  #isReplaced(path: string): boolean {
    const { replaced, readable, writable, cwd, tmp } = this.#parts;
    return isBelowAny(path, replaced) && !isBelowAny(path, [cwd, ...writable, ...readable, ...(tmp ? [tmp] : [])]);
  }
}

const isBelowAny = (path: string, roots: readonly string[]) => roots.some((root) => isBelow(path, root));
