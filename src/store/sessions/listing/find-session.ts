import { closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sessionsFolder } from '../../agent-dir.ts';
import { readHeader } from '../header.ts';
import { scan } from '../indexing/scan.ts';

interface Folders {
  readonly root: string;
  // The session folder of this project.
  readonly sessionDirectory: string;
  // Whether the user chose that folder: other folders are not searched then.
  readonly isChosen?: boolean;
}

/**
 * The sessions whose ids start with the prefix, last written first: those of this project, else of all projects. An
 * exact match is returned alone.
 */
export function findSessions({ idPrefix, ...folders }: Folders & { readonly idPrefix: string }): readonly string[] {
  if (idPrefix === '') return [];
  return searchNearestFirst(folders, (paths) => matchesIn(paths, idPrefix));
}

/** The session with exactly this id: of this project, else of any project. */
export function findSessionById({ id, ...folders }: Folders & { readonly id: string }): string | undefined {
  const [found] = searchNearestFirst(folders, (paths) => {
    const path = paths.find((candidate) => tryRead(candidate, readHeader)?.id === id);
    return path === undefined ? [] : [path];
  });
  return found;
}

/** The session of a working directory that was written last and has a message. */
export function latestSession(directory: string, cwd: string): string | undefined {
  return sessionFiles([resolve(directory)]).find(
    (path) => tryRead(path, readHeader)?.cwd === cwd && tryRead(path, hasMessage),
  );
}

function searchNearestFirst(
  { root, sessionDirectory, isChosen }: Folders,
  pick: (paths: readonly string[]) => string[],
): readonly string[] {
  const ofProject = pick(sessionFiles([resolve(sessionDirectory)]));
  if (ofProject.length > 0 || isChosen) return ofProject;
  const all = resolve(sessionsFolder(root));
  const others = [
    all,
    ...namesIn(all)
      .filter((name) => !name.startsWith('.'))
      .map((name) => join(all, name)),
  ];
  return pick(sessionFiles(others));
}

function matchesIn(paths: readonly string[], idPrefix: string): string[] {
  const matches: string[] = [];
  for (const path of paths) {
    const id = tryRead(path, readHeader)?.id;
    if (id === idPrefix) return [path];
    if (id?.startsWith(idPrefix)) matches.push(path);
  }
  return matches;
}

function hasMessage(fd: number): boolean {
  let found = false;
  scan(fd, ({ type }) => {
    found = type === 'message';
    return found ? 'stop' : undefined;
  });
  return found;
}

/** The `.jsonl` files in these folders, last written first. */
function sessionFiles(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => namesIn(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.jsonl'))
    .map((path) => ({ path, writtenAt: writtenAt(path) }))
    .filter(({ writtenAt }) => writtenAt > 0)
    .sort((a, b) => b.writtenAt - a.writtenAt)
    .map(({ path }) => path);
}

/** Zero if this is not a file. */
function writtenAt(path: string): number {
  try {
    const stats = statSync(path);
    return stats.isFile() ? stats.mtimeMs : 0;
  } catch {
    return 0;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Opens a file and reads it; undefined if that fails. */
function tryRead<T>(path: string, read: (fd: number) => T): T | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    return read(fd);
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
