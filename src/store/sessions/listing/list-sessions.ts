import { closeSync, openSync } from 'node:fs';
import { Refusal } from '../../../protocol/errors.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { reachableStats } from '../../../system/files/reachable-stats.ts';
import { TRASH_FOLDER } from '../trash.ts';
import { byAge, filesIn, type ListedFile, realFolder, sessionFolders, YieldTimer } from './session-files.ts';
import { type FileSummary, summarize } from './session-summary.ts';

// Unchanged files are read once; this many summaries are cached.
const MAX_CACHED_SUMMARIES = 10_000;

export interface ListOptions {
  /** Only sessions of this working directory. */
  readonly cwd?: string | undefined;
  /** Whether sessions of a working directory may be listed; by default all. */
  readonly mayList?: (cwd: string) => boolean;
  /** A folder with sessions beside the default ones. */
  readonly extraFolder?: string | undefined;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  /** Maximum number of sessions. */
  readonly limit?: number | undefined;
  /** Lists trashed sessions instead. */
  readonly trashed?: boolean;
}

export interface SessionPage {
  readonly sessions: SessionSummary[];
  readonly nextCursor?: string;
}

interface CachedSummary {
  readonly size: number;
  readonly modifiedAt: number;
  readonly summary: FileSummary | undefined;
}

/** Lists the sessions on disk. Writes and locks no file; caches the summaries. */
export class SessionList {
  readonly #root: string;
  readonly #cache = new Map<string, CachedSummary>();

  /** `root`: the folder that holds one session folder per working directory. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Sessions with at least one message, last written first. Other files are skipped. */
  async list({
    cwd,
    mayList = () => true,
    extraFolder,
    cursor,
    limit = Infinity,
    trashed = false,
  }: ListOptions = {}): Promise<SessionPage> {
    const after = cursor === undefined ? undefined : decodeCursor(cursor);
    const timer = new YieldTimer();
    const isListed = folderFilter(cwd, mayList);
    const folders = await sessionFolders(this.#root, extraFolder);
    const files = await filesIn(trashed ? folders.map((folder) => `${folder}/${TRASH_FOLDER}`) : folders, timer);
    const page: ListedFile[] = [];
    const sessions: SessionSummary[] = [];
    for (const file of files) {
      if (after && byAge(file, after) <= 0) continue;
      const summary = await this.#summaryOf(file, isListed, timer);
      if (!summary) continue;
      const last = page.at(-1);
      if (last && page.length >= limit) return { sessions, nextCursor: encodeCursor(last) };
      page.push(file);
      sessions.push(toSessionSummary(file, summary));
    }
    return { sessions };
  }

  async #summaryOf(
    file: ListedFile,
    isListed: (cwd: string) => boolean,
    timer: YieldTimer,
  ): Promise<FileSummary | undefined> {
    const { path, size, modifiedAt } = file;
    const cached = this.#cache.get(path);
    const isFresh = cached?.size === size && cached.modifiedAt === modifiedAt;
    const summary = isFresh ? cached.summary : await readSummary(path, isListed, timer);
    if (summary === 'excluded' || summary === 'unreadable') return undefined;
    if (!isFresh) this.#store(path, { size, modifiedAt, summary });
    return summary && summary.messageCount > 0 && isListed(summary.cwd) ? summary : undefined;
  }

  /** Evicts the oldest summary. */
  #store(path: string, cached: CachedSummary): void {
    this.#cache.delete(path);
    this.#cache.set(path, cached);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED_SUMMARIES && oldest !== undefined) this.#cache.delete(oldest);
  }
}

/** The summary of one file in any folder, also without messages. */
export async function summaryAt(path: string): Promise<SessionSummary | undefined> {
  const stats = reachableStats(path);
  const summary = stats?.isFile() ? await readSummary(path, () => true, new YieldTimer()) : undefined;
  if (!stats || !summary || typeof summary === 'string') return undefined;
  return toSessionSummary({ path, size: stats.size, modifiedAt: stats.mtimeMs }, summary);
}

/** Summarises a file unless its folder is not listed. An unreadable file may become readable, so it is not cached. */
async function readSummary(
  path: string,
  isListed: (cwd: string) => boolean,
  timer: YieldTimer,
): Promise<FileSummary | 'excluded' | 'unreadable' | undefined> {
  await timer.yieldToEventLoop();
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const reading = summarize(fd, isListed);
    for (let step = reading.next(); ; step = reading.next()) {
      if (step.done) return step.value;
      await timer.yieldToEventLoop();
    }
  } catch {
    return 'unreadable';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Folders are equal when their real paths are. */
function folderFilter(cwd: string | undefined, mayList: (cwd: string) => boolean): (cwd: string) => boolean {
  const realCwd = cwd === undefined ? undefined : realFolder(cwd);
  const decisions = new Map<string, boolean>();
  return (other) => {
    const decision =
      decisions.get(other) ?? (mayList(other) && (realCwd === undefined || realFolder(other) === realCwd));
    decisions.set(other, decision);
    return decision;
  };
}

function toSessionSummary({ path, modifiedAt }: ListedFile, summary: FileSummary): SessionSummary {
  const { id, firstMessage, messageCount, cwd, ...more } = summary;
  return { path, id, firstMessage, messageCount, lastModified: new Date(modifiedAt).toISOString(), cwd, ...more };
}

/** The last session of a page in listing order, which stays valid when sessions are added or removed. */
interface ListPosition {
  readonly modifiedAt: number;
  readonly path: string;
}

const encodeCursor = ({ modifiedAt, path }: ListPosition): string =>
  Buffer.from(JSON.stringify([modifiedAt, path])).toString('base64url');

function decodeCursor(cursor: string): ListPosition {
  try {
    const [modifiedAt, path] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
    if (typeof modifiedAt === 'number' && typeof path === 'string') return { modifiedAt, path };
  } catch {
    // The cursor is not from a session listing.
  }
  throw new Refusal('not_found', `Not a cursor of a session listing: ${cursor.slice(0, 100)}`);
}
