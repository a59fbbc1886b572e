import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionEntry, SessionHeader } from '../../protocol/generated/vocabulary.ts';
import type { Lock } from '../../system/files/lock.ts';
import { makePrivateFolder } from '../../system/files/make-folder.ts';
import { buildEntry, type EntryDraft } from './entry-line.ts';
import { readEntries, readEntry, searchRows } from './entry-reader.ts';
import { type NewHeader, newHeader, sessionFileName } from './header.ts';
import { EntryIndex, type EntryNode } from './indexing/entry-index.ts';
import { factsOf, type LineFacts, parseFacts } from './indexing/line-facts.ts';
import { MAX_ENTRY_BYTES } from './indexing/scan.ts';
import { type Lines, MemoryLines } from './lines.ts';
import { newEntryId } from './random-id.ts';
import {
  createSessionFile,
  forkSessionFile,
  LEAF_MARK,
  openSessionFile,
  readSessionFile,
  type SessionFile,
  type SessionFileAccess,
} from './session-file.ts';

export type { EntryDraft, EntryNode };
export { sessionFileName };

interface Parts {
  readonly header: SessionHeader;
  readonly lines: Lines;
  readonly index: EntryIndex;
  readonly leaf?: number | undefined;
  readonly path?: string;
  // Absent for a session in memory and for one that is only read.
  readonly locked?: { readonly realPath: string; readonly lock: Lock };
  readonly tornBytes?: number;
  readonly unknownLines?: number;
  readonly isNew?: boolean;
}

/**
 * A session on disk: a header, then a tree of entries, one line each, append-only.
 *
 * Holds the file's lock until closed, unless it is only read. Keeps an index of the lines in memory and reads entries
 * on demand.
 */
export class SessionLog {
  readonly header: SessionHeader;
  /** Undefined for a session in memory. */
  readonly path: string | undefined;
  /** Bytes of a torn last line that opening removed. */
  readonly tornBytes: number;
  readonly #parts: Parts;
  readonly #lines: Lines;
  readonly #index: EntryIndex;
  #leaf: number | undefined;
  #closing: Promise<void> | undefined;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.#lines = parts.lines;
    this.#index = parts.index;
    this.#leaf = parts.leaf;
    this.header = parts.header;
    this.path = parts.path;
    this.tornBytes = parts.tornBytes ?? 0;
  }

  /** Creates a session; its header is in the file when this settles. */
  static async create(
    options: NewHeader & { readonly directory: string; readonly path?: string | undefined },
  ): Promise<SessionLog> {
    const header = newHeader(options);
    const path = options.path === undefined ? newPath(options.directory, header) : resolve(options.path);
    return SessionLog.#fromFile(await createSessionFile(path, header));
  }

  /** Opens a session under its lock; with `create`, creates it when it is missing or empty and its folder exists. */
  static async open(
    path: string,
    options: SessionFileAccess & {
      readonly create?: { readonly cwd: string; readonly id?: string | undefined } | undefined;
    } = {},
  ): Promise<SessionLog> {
    return SessionLog.#fromFile(await openSessionFile(resolve(path), options));
  }

  /** Reads a session without its lock. It cannot be appended to, and its file stays as it is. */
  static read(path: string): SessionLog {
    return new SessionLog(readSessionFile(resolve(path)));
  }

  /** Creates a session without a file; it may start with entries, whose last one is the leaf. */
  static inMemory(options: NewHeader, entries: readonly SessionEntry[] = []): SessionLog {
    const index = new EntryIndex();
    const log = new SessionLog({ header: newHeader(options), lines: new MemoryLines(), index });
    for (const entry of entries) log.#leaf = log.#write(JSON.stringify(entry), factsOf(entry));
    index.resolve();
    return log;
  }

  static #fromFile({ lock, ...loaded }: SessionFile): SessionLog {
    return new SessionLog({ ...loaded, locked: { realPath: loaded.lines.path, lock } });
  }

  /** Whether nothing can be appended. */
  get isReadOnly(): boolean {
    return this.path !== undefined && this.#parts.locked === undefined;
  }

  /** The parent of the next entry; null before the first. */
  get leafId(): string | null {
    return this.#leaf === undefined ? null : this.#index.id(this.#leaf);
  }

  /** Number of entries on all branches. */
  get size(): number {
    return this.#index.size;
  }

  /** Whether the leaf is the last entry of the file. */
  get isAtEnd(): boolean {
    return this.#leaf === undefined ? this.size === 0 : this.#leaf === this.size - 1;
  }

  /** Appends an entry below the leaf or another entry, and makes it the leaf. A crash cannot lose it afterwards. */
  append(draft: EntryDraft, parentId: string | null = this.leafId): SessionEntry {
    this.#rowOf(parentId);
    const id = newEntryId((candidate) => this.has(candidate));
    const entry = buildEntry(draft, { id, parentId, timestamp: new Date().toISOString() });
    this.#leaf = this.#write(JSON.stringify(entry), factsOf(entry));
    return entry;
  }

  /** Settles when everything appended so far survives a power failure. */
  sync(): Promise<void> {
    return this.#lines.sync();
  }

  has(id: string): boolean {
    return this.#index.row(id) !== undefined;
  }

  /** The number of entries before this one in the file; undefined for an unknown entry. */
  positionOf(id: string): number | undefined {
    return this.#index.row(id);
  }

  entry(id: string): SessionEntry | undefined {
    const row = this.#index.row(id);
    return row === undefined ? undefined : readEntry(this.#parts, row);
  }

  /** The parent of an entry; null for roots, for entries whose parent is missing, and where a cycle was cut. */
  parentOf(id: string): string | null {
    const parent = this.#index.parent(this.#rowOf(id) ?? 0);
    return parent === undefined ? null : this.#index.id(parent);
  }

  /** A branch from its leaf up to the root, without reading any entry. */
  nodes(leafId: string | null = this.leafId): Iterable<EntryNode> {
    return nodesOf(this.#index, this.#rowOf(leafId));
  }

  /** The entries of the active branch with one of these types, roles or customTypes, from the leaf up. */
  *nodesOfKind(...kinds: string[]): Generator<EntryNode> {
    for (const row of this.#index.rowsOfKind(this.#leaf, kinds)) yield this.#index.node(row);
  }

  /** The same on every branch, latest first. */
  *allNodesOfKind(...kinds: string[]): Generator<EntryNode> {
    for (const row of this.#index.allRowsOfKind(kinds)) yield this.#index.node(row);
  }

  /** Number of entries of the active branch with this type, role or customType. */
  count(kind: string): number {
    let count = 0;
    for (const _row of this.#index.rowsOfKind(this.#leaf, [kind])) count++;
    return count;
  }

  /** A branch from the root down to its leaf. */
  branch(leafId: string | null = this.leafId): SessionEntry[] {
    const rows = [...this.#index.ancestry(this.#rowOf(leafId))].reverse();
    return [...readEntries(this.#parts, rows)];
  }

  /** The entries of all branches in file order. */
  entries({
    after,
    limit = Infinity,
  }: {
    after?: string | undefined;
    limit?: number | undefined;
  } = {}): SessionEntry[] {
    const start = after === undefined ? 0 : (this.#rowOf(after) ?? 0) + 1;
    return [...readEntries(this.#parts, range(start, Math.min(this.size, start + limit)))];
  }

  /** The entries whose line contains this text as written in the file, found without parsing the others. */
  find(text: string): Iterable<SessionEntry> {
    return readEntries(this.#parts, searchRows(this.#parts, text));
  }

  /** Moves the leaf to another entry, or before the first. Only the next append makes that durable. */
  moveLeaf(id: string | null): void {
    this.#leaf = this.#rowOf(id);
  }

  /** Moves the leaf and stores the move; returns the entry that records it. */
  storeLeaf(id: string | null): SessionEntry {
    const mark = this.append({ type: 'custom', customType: LEAF_MARK }, id);
    this.moveLeaf(id);
    return mark;
  }

  /** Copies the path to an entry into a new session: in memory if this one is, or without a directory. */
  async copy(options: {
    leafId: string | null;
    directory: string | undefined;
    cwd?: string | undefined;
  }): Promise<SessionLog> {
    const leaf = this.#rowOf(options.leafId);
    const header = newHeader({ cwd: options.cwd ?? this.header.cwd, parentSession: this.path });
    const source = { ...this.#parts, leaf };
    if (this.path !== undefined && options.directory !== undefined) {
      return SessionLog.#fromFile(await forkSessionFile(newPath(options.directory, header), header, source));
    }
    const fork = new SessionLog({ header, lines: new MemoryLines(), index: new EntryIndex() });
    const { forkPieces } = await import('./fork.ts');
    for (const piece of forkPieces(source)) {
      const text = typeof piece === 'string' ? piece : this.#lines.read(piece.offset, piece.length).toString();
      for (const line of text.trimEnd().split('\n')) {
        const facts = parseFacts(line);
        if (facts) fork.#leaf = fork.#write(line, facts);
      }
    }
    return fork;
  }

  /**
   * Closes the file and releases its lock. Removes a session without messages unless `keepEmpty`; one that existed
   * before is removed only if it holds nothing else either.
   */
  close({ keepEmpty = false } = {}): Promise<void> {
    this.#closing ??= this.#close({ keepEmpty });
    return this.#closing;
  }

  async #close({ keepEmpty }: { keepEmpty: boolean }): Promise<void> {
    const { locked, isNew, unknownLines = 0 } = this.#parts;
    const choices = this.count('model_change') + this.count('thinking_level_change');
    const isEmpty = unknownLines === 0 && (isNew ? !this.#index.hasMessages : this.size === choices);
    try {
      if (locked && isEmpty && !keepEmpty) rmSync(locked.realPath, { force: true });
    } finally {
      // In this order: once closed, the inode of a removed file may be reused.
      await locked?.lock.release();
      this.#lines.close();
    }
  }

  #write(line: string, facts: LineFacts | undefined): number {
    if (!facts) throw new TypeError('Not an entry');
    if (this.isReadOnly) throw new Refusal('permission_denied', `The session is open for reading only: ${this.path}`);
    if (this.#closing !== undefined) throw new Error(`${this.path ?? 'The session'} is closed`);
    if (Buffer.byteLength(line) > MAX_ENTRY_BYTES) {
      throw new Refusal('invalid_params', `Entry is longer than ${MAX_ENTRY_BYTES} bytes`);
    }
    const offset = this.#lines.size;
    this.#lines.append(`${line}\n`);
    return this.#index.add(facts, { offset, length: this.#lines.size - offset - 1 });
  }

  #rowOf(id: string | null): number | undefined {
    if (id === null) return undefined;
    const row = this.#index.row(id);
    if (row === undefined) throw new Refusal('not_found', `Entry not found: ${id}`);
    return row;
  }
}

function newPath(directory: string, { id, timestamp }: SessionHeader): string {
  makePrivateFolder(directory);
  return resolve(join(directory, sessionFileName(id, new Date(timestamp))));
}

function* nodesOf(index: EntryIndex, leaf: number | undefined): Generator<EntryNode> {
  for (const row of index.ancestry(leaf)) yield index.node(row);
}

function* range(start: number, end: number): Generator<number> {
  for (let at = start; at < end; at++) yield at;
}
