import { appendFileSync, closeSync, existsSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SessionEntries } from '../../extend/extensions/api/session-view.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionEntry, SessionHeader } from '../../protocol/generated/vocabulary.ts';
import { refuseClusterFile } from '../../store/sessions/cluster-files.ts';
import { buildEntry, type EntryDraft } from '../../store/sessions/entry-line.ts';
import { type NewHeader, newHeader, sessionFileName } from '../../store/sessions/header.ts';
import { newEntryId } from '../../store/sessions/random-id.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import { contentLockHolder } from '../../system/files/lock.ts';
import { makePrivateFolder } from '../../system/files/make-folder.ts';

const MODE = 0o600;

/**
 * A session without an agent: all entries in memory, and every new one in the file when `append` returns.
 *
 * A new session has no file before its first entry. An append is refused while an agent has the file open.
 */
export class StandaloneSession implements SessionEntries {
  #header: SessionHeader;
  readonly path: string | undefined;
  readonly choice = undefined;
  readonly #entries: SessionEntry[] = [];
  readonly #byId = new Map<string, SessionEntry>();
  #leafId: string | null = null;

  private constructor(header: SessionHeader, path?: string) {
    this.#header = header;
    this.path = path;
  }

  /** A new session; without a directory it stays in memory. */
  static create(options: NewHeader & { readonly directory?: string | undefined }): StandaloneSession {
    const header = newHeader(options);
    const { directory } = options;
    const name = sessionFileName(header.id, new Date(header.timestamp));
    return new StandaloneSession(header, directory === undefined ? undefined : resolve(join(directory, name)));
  }

  /** A new session that will be stored in this file. */
  static createAt(path: string, options: NewHeader): StandaloneSession {
    return new StandaloneSession(newHeader(options), resolve(path));
  }

  /** Reads a file as it is now, without its lock. Throws a `Refusal` if it holds no session. */
  static read(path: string, { cwd }: { readonly cwd?: string | undefined } = {}): StandaloneSession {
    refuseClusterFile(path);
    const log = SessionLog.read(path);
    try {
      const header = cwd === undefined ? log.header : { ...log.header, cwd };
      const session = new StandaloneSession(header, resolve(path));
      session.#add(log.entries().map((entry) => ({ ...entry, parentId: log.parentOf(entry.id) })));
      session.#leafId = log.leafId;
      return session;
    } finally {
      void log.close({ keepEmpty: true });
    }
  }

  /** Adds entries of another session as they are, to the file too. */
  addAll(entries: readonly SessionEntry[]): void {
    this.#store(entries);
    this.#add(entries);
    this.#leafId = entries.at(-1)?.id ?? this.#leafId;
  }

  get header(): SessionHeader {
    return this.#header;
  }

  /** Gives a session that is not stored yet another working folder. */
  moveTo(cwd: string): void {
    this.#header = { ...this.#header, cwd };
  }

  get leafId(): string | null {
    return this.#leafId;
  }

  get name(): string | undefined {
    const entry = this.#entries.findLast(({ type }) => type === 'session_info');
    return (entry?.type === 'session_info' && entry.name) || undefined;
  }

  /** Whether its file exists. */
  get isStored(): boolean {
    return this.path !== undefined && existsSync(this.path);
  }

  entry(id: string): SessionEntry | undefined {
    return this.#byId.get(id);
  }

  parentOf(id: string): string | null {
    const parentId = this.#byId.get(id)?.parentId ?? null;
    return parentId !== null && this.#byId.has(parentId) ? parentId : null;
  }

  get size(): number {
    return this.#entries.length;
  }

  entries(): SessionEntry[] {
    return [...this.#entries];
  }

  branch(leafId: string | null = this.#leafId): SessionEntry[] {
    const branch: SessionEntry[] = [];
    if (leafId !== null && !this.#byId.has(leafId)) throw new Refusal('not_found', `Entry not found: ${leafId}`);
    // Entries of a caller may form a cycle.
    for (let id = leafId; id !== null && branch.length < this.#byId.size; id = this.parentOf(id)) {
      branch.push(this.#byId.get(id) as SessionEntry);
    }
    return branch.reverse();
  }

  append(draft: EntryDraft, parentId: string | null = this.#leafId): SessionEntry {
    const id = newEntryId((candidate) => this.#byId.has(candidate));
    const entry = buildEntry(draft, { id, parentId, timestamp: new Date().toISOString() });
    this.#store([entry]);
    this.#add([entry]);
    this.#leafId = id;
    return entry;
  }

  moveLeaf(id: string | null): void {
    this.#leafId = id;
  }

  /** Writes the file if it does not exist yet. */
  store(): void {
    if (this.path === undefined || this.isStored) return;
    makePrivateFolder(dirname(this.path));
    const lines = [this.header, ...this.#entries].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(this.path, lines.join(''), { flag: 'wx', mode: MODE });
  }

  #store(entries: readonly SessionEntry[]): void {
    if (this.path === undefined) return;
    this.store();
    const holder = contentLockHolder(this.path);
    if (holder) {
      const owner = holder.pid === undefined ? 'another process' : `process ${holder.pid}`;
      throw new Refusal('session_in_use', `Session is in use by ${owner}: ${this.path}`, { holder: holder.pid });
    }
    // All lines in a single write: a concurrent writer cannot split them.
    const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
    appendFileSync(this.path, endsInsideLine(this.path) ? `\n${lines}` : lines, { mode: MODE });
  }

  #add(entries: readonly SessionEntry[]): void {
    for (const entry of entries) {
      this.#entries.push(entry);
      this.#byId.set(entry.id, entry);
    }
  }
}

/** Whether the last line of a file has no line feed, as after a crash: an appended line would become a part of it. */
function endsInsideLine(path: string): boolean {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last.toString() !== '\n';
  } finally {
    closeSync(fd);
  }
}

/** The entries of a branch without labels, and the labels of those entries behind them. */
export function branchWithLabels(session: SessionEntries, leafId: string): SessionEntry[] {
  const kept: SessionEntry[] = [];
  for (const entry of session.branch(leafId)) {
    if (entry.type !== 'label') kept.push({ ...entry, parentId: kept.at(-1)?.id ?? null });
  }
  const ids = new Set(kept.map(({ id }) => id));
  const labels = new Map<string, SessionEntry>();
  for (const entry of session.entries()) {
    if (entry.type === 'label' && ids.has(entry.targetId)) labels.set(entry.targetId, entry);
  }
  for (const entry of labels.values()) kept.push({ ...entry, parentId: kept.at(-1)?.id ?? null });
  return kept;
}
