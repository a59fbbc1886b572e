import { closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sessionsFolder } from '../agent-dir.ts';
import { readHeader } from './header.ts';
import { scan } from './indexing/scan.ts';

interface Folders {
  /** The agent folder. */
  readonly root: string;
  /** Where this project's sessions are. */
  readonly sessionDirectory: string;
  /** Whether somebody chose that directory: then they are nowhere else. */
  readonly isChosen?: boolean;
}

/**
 * The sessions whose ids start with the prefix, the last written first: of this project if there are any, else of any
 * project. An id that fits exactly leaves no choice.
 */
export function findSessions({ idPrefix, ...folders }: Folders & { readonly idPrefix: string }): readonly string[] {
  if (idPrefix === '') return [];
  return searchNearestFirst(folders, (paths) => matchesIn(paths, idPrefix));
}

/** The session with exactly this id: of this project if there is one, else of any project. */
export function findSessionById({ id, ...folders }: Folders & { readonly id: string }): string | undefined {
  const [found] = searchNearestFirst(folders, (paths) => {
    const path = paths.find((candidate) => tryRead(candidate, readHeader)?.id === id);
    return path === undefined ? [] : [path];
  });
  return found;
}

/** The session of a working directory that was last written to, among those in which something was said. */
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

/** The files that may be sessions, last written first. */
function sessionFiles(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) => namesIn(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith('.jsonl'))
    .map((path) => ({ path, writtenAt: writtenAt(path) }))
    .filter(({ writtenAt }) => writtenAt > 0)
    .sort((a, b) => b.writtenAt - a.writtenAt)
    .map(({ path }) => path);
}

/** Zero for what is no file. */
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

/** What `read` makes of a file; undefined when the file cannot be read. */
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
