import { type BigIntStats, existsSync, lstatSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { realPath } from '../files/real-path.ts';
import { alwaysHidden } from './hidden.ts';
import type { SandboxOptions } from './sandbox.ts';

/** The folders that the commands of a session can change, decided before the first command runs. */
export interface WritableRoots {
  /** Real paths. None lies in another, unless a hidden folder is between them. */
  readonly roots: readonly string[];
  /** Folders inside a root whose `.git` and `.pi` are read-only; the roots are among them. */
  readonly projects: readonly string[];
  /** Folders that must not be renamed, since protected paths lie below. Parents come first. */
  readonly pins: readonly Pin[];
}

/** A folder by its identity: a command could have put a link in its place. */
export interface Pin {
  readonly path: string;
  readonly identity: string;
}

/** Commands have others in place of these folders. */
export const REPLACED_FOLDERS: readonly string[] = ['/tmp', '/run', '/dev', '/proc'];

// The view replaces these, or the kernel makes their content.
const SYSTEM_FOLDERS = [...REPLACED_FOLDERS, '/sys'];
const KERNEL_FOLDERS = ['/dev', '/proc', '/sys'];

/** Whether a path is a folder or lies below it, by their names. */
export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);

/** The stats of a path, of a link itself; undefined where nothing is or this user may not look. */
export function linkStats(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    return undefined;
  }
}

/** The real path; undefined when nothing is there. */
export function existingPath(path: string): string | undefined {
  // Most hidden paths do not exist, and an exception costs more than this.
  if (!existsSync(path)) return undefined;
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Whether a path leads through a symlink in a folder that commands can change: one of them may have made it. */
export function isLedByCommand(path: string, isChangeable: (folder: string) => boolean): boolean {
  let isLed = false;
  try {
    realPath(path, (folder) => {
      isLed ||= isChangeable(folder);
    });
    return isLed;
  } catch {
    // Too many links, or a folder that cannot be read.
    return true;
  }
}

/** The identity of a file, a folder or a link; undefined where nothing is. */
export function identityOf(path: string): string | undefined {
  const stats = linkStats(path);
  return stats && `${stats.dev}:${stats.ino}`;
}

/** The identity of a folder that is no link; undefined if it is none. */
export function folderIdentity(path: string): string | undefined {
  const stats = linkStats(path);
  return stats?.isDirectory() ? `${stats.dev}:${stats.ino}` : undefined;
}

/** The hidden files and folders that exist, by real path. */
export function hiddenPaths({ home, hidden }: Pick<SandboxOptions, 'home' | 'hidden'>): string[] {
  const paths = [...new Set([...alwaysHidden(home), ...hidden])].flatMap((path) => existingPath(path) ?? []);
  return [...new Set(paths)].filter((path) => path !== '/').sort();
}

/** The real paths of the replaced folders, and of the temporary one. `/proc` shows other content to each process. */
export function replacedFolders(home: string): string[] {
  const temporary = existingPath(tmpdir());
  // As in the view: a temporary folder at or above home stays.
  const own = temporary === undefined || isBelow(home, temporary) ? [] : [temporary];
  const system = REPLACED_FOLDERS.filter((path) => path !== '/proc').flatMap((path) => existingPath(path) ?? []);
  return [...new Set([...own, ...system])];
}

/**
 * The folders that commands can change.
 *
 * A folder at or above home or the temporary folder never is: start-up files of the user's shell lie in the one, the
 * files of other sandboxes in the other. Links are followed here, once: later a command could change them.
 */
export function writableRoots(options: SandboxOptions): WritableRoots {
  if (options.readOnly) return { roots: [], projects: [], pins: [] };
  const hidden = hiddenPaths(options);
  const roots = rootsOf(options, hidden);
  const projects = projectsOf(options.cwd, roots);
  return { roots, projects, pins: pinsOf(roots, [...projects.map((path) => `${path}/.git`), ...hidden]) };
}

function rootsOf(options: SandboxOptions, hidden: readonly string[]): string[] {
  const untouchable = [options.home, tmpdir(), ...SYSTEM_FOLDERS].flatMap((path) => existingPath(path) ?? path);
  const folders = [...new Set(options.writable.flatMap((path) => existingPath(path) ?? []))]
    .filter((path) => folderIdentity(path) && !untouchable.some((folder) => isBelow(folder, path)))
    .filter((path) => !KERNEL_FOLDERS.some((folder) => isBelow(path, folder)) && !hidden.includes(path));
  const containers = (path: string) => folders.filter((folder) => folder !== path && isBelow(path, folder));
  const isMasked = (path: string, root: string) => hidden.some((mask) => isBelow(mask, root) && isBelow(path, mask));
  return folders.filter((path) => containers(path).every((root) => isMasked(path, root))).sort();
}

function projectsOf(cwd: string, roots: readonly string[]): string[] {
  const real = existingPath(cwd);
  const root = real === undefined ? undefined : innermost(real, roots);
  const below = real === undefined || root === undefined ? [] : [...foldersBetween(root, real), real];
  return [...new Set([...roots, ...below])];
}

/** The same folders with the trusted ones in them: the user may trust one at any time. */
export function withTrusted(writable: WritableRoots, trusted: readonly string[]): WritableRoots {
  const { roots, projects, pins } = writable;
  const inside = trusted
    .filter((path) => innermost(path, roots) !== undefined && !projects.includes(path))
    .filter((path) => existingPath(path) === path && folderIdentity(path) !== undefined);
  if (inside.length === 0) return writable;
  const added = pinsOf(
    roots,
    inside.map((path) => `${path}/.git`),
  ).filter(({ path }) => !pins.some((pin) => pin.path === path));
  const sorted = [...pins, ...added].sort((a, b) => (a.path < b.path ? -1 : 1));
  return { roots, projects: [...projects, ...inside], pins: sorted };
}

function pinsOf(roots: readonly string[], paths: readonly string[]): Pin[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const root = innermost(path, roots);
    if (root !== undefined) for (const folder of foldersBetween(root, path)) folders.add(folder);
  }
  return [...folders].sort().flatMap((path) => {
    const identity = folderIdentity(path);
    return identity === undefined ? [] : [{ path, identity }];
  });
}

/** The folders above a path and below a root, without both. */
export function foldersBetween(root: string, path: string): string[] {
  const folder = dirname(path);
  return folder === root || !isBelow(folder, root) ? [] : [...foldersBetween(root, folder), folder];
}

const innermost = (path: string, roots: readonly string[]) =>
  roots.filter((root) => isBelow(path, root)).sort((a, b) => b.length - a.length)[0];
