import { closeSync, openSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CoalescedTask } from '../../../system/coalesced-task.ts';
import { sessionsFolder } from '../../agent-dir.ts';
import { headerOf, readHeader } from '../header.ts';
import { scan } from '../indexing/scan.ts';
import { filesIn, type ListedFile, sessionFolders, YieldTimer } from './session-files.ts';

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

// How long an unknown id is remembered, and how many of them.
const UNKNOWN_ID_MS = 250;
const MAX_UNKNOWN_IDS = 1000;

interface IndexedFile extends ListedFile {
  // Undefined if the file has no session header.
  readonly id: string | undefined;
}

/**
 * Finds session files by id without blocking the event loop.
 *
 * Each search looks at the folders again; searches that wait share one scan. A scan reads only the headers of files that
 * are new or changed, and the header of a found file is read again before its path is returned.
 */
export class SessionIndex {
  readonly #root: string;
  readonly #nearestFolder: string;
  readonly #scan = new CoalescedTask(() => this.#update());
  readonly #unknownSince = new Map<string, number>();
  #files: ReadonlyMap<string, IndexedFile> = new Map();
  #byId: ReadonlyMap<string, readonly string[]> = new Map();
  #headersRead = 0;

  /** `nearestFolder` holds the sessions that are preferred among those with one id. */
  constructor(root: string, nearestFolder: string) {
    this.#root = root;
    this.#nearestFolder = nearestFolder;
  }

  /** The headers that scans have read so far. */
  get headersRead(): number {
    return this.#headersRead;
  }

  /** The session with exactly this id: of the nearest folder, else the one written last. */
  async find(id: string): Promise<string | undefined> {
    if (this.#isUnknown(id)) return undefined;
    await this.#scan.run();
    const found = this.#indexedPath(id);
    if (found === undefined) this.#rememberUnknown(id);
    return found;
  }

  /** As `find`, but by the scan that is running or was the last: it causes none. */
  async findKnown(id: string): Promise<string | undefined> {
    await this.#scan.settled();
    return this.#indexedPath(id);
  }

  /** The next search for this id looks at the folders: a session with it is about to be created. */
  forgetUnknown(id: string): void {
    this.#unknownSince.delete(id);
  }

  #indexedPath(id: string): string | undefined {
    const paths = this.#byId.get(id) ?? [];
    const nearest = paths.filter((path) => dirname(path) === this.#nearestFolder);
    return [...nearest, ...paths].find((path) => idIn(path) === id);
  }

  async #update(): Promise<void> {
    const timer = new YieldTimer();
    const folders = await sessionFolders(this.#root, this.#nearestFolder).catch(() => []);
    const files = new Map<string, IndexedFile>();
    const byId = new Map<string, string[]>();
    for (const file of await filesIn(folders, timer)) {
      await timer.yieldToEventLoop();
      const indexed = this.#indexed(file);
      files.set(file.path, indexed);
      if (indexed.id !== undefined) byId.set(indexed.id, [...(byId.get(indexed.id) ?? []), file.path]);
    }
    this.#files = files;
    this.#byId = byId;
  }

  #indexed(file: ListedFile): IndexedFile {
    const known = this.#files.get(file.path);
    if (known?.size === file.size && known.modifiedAt === file.modifiedAt) return known;
    this.#headersRead++;
    return { ...file, id: idIn(file.path) };
  }

  #isUnknown(id: string): boolean {
    return performance.now() - (this.#unknownSince.get(id) ?? Number.NEGATIVE_INFINITY) < UNKNOWN_ID_MS;
  }

  #rememberUnknown(id: string): void {
    this.#unknownSince.delete(id);
    this.#unknownSince.set(id, performance.now());
    const [oldest] = this.#unknownSince.keys();
    if (this.#unknownSince.size > MAX_UNKNOWN_IDS && oldest !== undefined) this.#unknownSince.delete(oldest);
  }
}

function idIn(path: string): string | undefined {
  const header = headerOf(path);
  return typeof header === 'string' ? undefined : header.id;
}
