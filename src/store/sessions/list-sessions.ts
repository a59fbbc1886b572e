import { closeSync, openSync, statSync } from 'node:fs';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import { Breath } from './list-breath.ts';
import { cursorAt, placeAt } from './list-cursor.ts';
import { byAge, filesIn, type ListedFile, placeOf, sessionFolders } from './list-files.ts';
import { type FileSummary, summarize } from './list-summary.ts';
import { TRASH } from './trash.ts';

/** Files that are not read again while they are unchanged. */
const MAX_KNOWN = 10_000;

export interface ListOptions {
  /** Only sessions that were held in this folder. */
  readonly cwd?: string | undefined;
  /** Which folders may be told of; all, if nobody says. */
  readonly mayList?: (cwd: string) => boolean;
  /** A folder with sessions beside the usual ones. */
  readonly also?: string | undefined;
  /** Where the page before ended. */
  readonly cursor?: string | undefined;
  /** At most so many. */
  readonly limit?: number | undefined;
  /** Those that were thrown away instead. */
  readonly trashed?: boolean;
}

export interface SessionPage {
  readonly sessions: SessionSummary[];
  readonly nextCursor?: string;
}

interface Known {
  readonly size: number;
  readonly modifiedAt: number;
  readonly summary: FileSummary | undefined;
}

/** The sessions on disk. Looks at files, writes to none and locks none; remembers what it has read. */
export class SessionList {
  readonly #root: string;
  readonly #known = new Map<string, Known>();

  /** `root`: the folder that holds a folder of sessions for each working directory. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Sessions in which something was said, the last written first. What is no session is passed over. */
  async list({
    cwd,
    mayList = () => true,
    also,
    cursor,
    limit = Infinity,
    trashed = false,
  }: ListOptions = {}): Promise<SessionPage> {
    const after = cursor === undefined ? undefined : placeAt(cursor);
    const breath = new Breath();
    const isWanted = wantedIn(cwd, mayList);
    const folders = await sessionFolders(this.#root, also);
    const files = await filesIn(trashed ? folders.map((folder) => `${folder}/${TRASH}`) : folders, breath);
    const page: ListedFile[] = [];
    const sessions: SessionSummary[] = [];
    for (const file of files) {
      if (after && byAge(file, after) <= 0) continue;
      const summary = await this.#summaryOf(file, isWanted, breath);
      if (!summary) continue;
      const last = page.at(-1);
      if (last && page.length >= limit) return { sessions, nextCursor: cursorAt(last) };
      page.push(file);
      sessions.push(toldOf(file, summary));
    }
    return { sessions };
  }

  async #summaryOf(
    file: ListedFile,
    isWanted: (cwd: string) => boolean,
    breath: Breath,
  ): Promise<FileSummary | undefined> {
    const { path, size, modifiedAt } = file;
    const known = this.#known.get(path);
    const isFresh = known?.size === size && known.modifiedAt === modifiedAt;
    const summary = isFresh ? known.summary : await read(path, isWanted, breath);
    if (summary === 'unwanted' || summary === 'unreadable') return undefined;
    if (!isFresh) this.#remember(path, { size, modifiedAt, summary });
    return summary && summary.messageCount > 0 && isWanted(summary.cwd) ? summary : undefined;
  }

  /** The oldest knowledge goes first. */
  #remember(path: string, known: Known): void {
    this.#known.delete(path);
    this.#known.set(path, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** What a listing tells of one file, wherever it lies and whether or not anything was said in it. */
export async function summaryAt(path: string): Promise<SessionSummary | undefined> {
  const stats = statSync(path, { throwIfNoEntry: false });
  const summary = stats?.isFile() ? await read(path, () => true, new Breath()) : undefined;
  if (!stats || !summary || typeof summary === 'string') return undefined;
  return toldOf({ path, size: stats.size, modifiedAt: stats.mtimeMs }, summary);
}

/** Reads a file, unless its header says that nobody asked for it. One that cannot be read now may be readable later. */
async function read(
  path: string,
  isWanted: (cwd: string) => boolean,
  breath: Breath,
): Promise<FileSummary | 'unwanted' | 'unreadable' | undefined> {
  await breath.take();
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const reading = summarize(fd, isWanted);
    for (let step = reading.next(); ; step = reading.next()) {
      if (step.done) return step.value;
      await breath.take();
    }
  } catch {
    return 'unreadable';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Folders are the same when they are the same place, whatever they are called. */
function wantedIn(cwd: string | undefined, mayList: (cwd: string) => boolean): (cwd: string) => boolean {
  const wanted = cwd === undefined ? undefined : placeOf(cwd);
  const verdicts = new Map<string, boolean>();
  return (other) => {
    const verdict = verdicts.get(other) ?? (mayList(other) && (wanted === undefined || placeOf(other) === wanted));
    verdicts.set(other, verdict);
    return verdict;
  };
}

function toldOf({ path, modifiedAt }: ListedFile, summary: FileSummary): SessionSummary {
  const { id, firstMessage, messageCount, cwd, ...more } = summary;
  return { path, id, firstMessage, messageCount, lastModified: new Date(modifiedAt).toISOString(), cwd, ...more };
}
