import { accessSync, closeSync, constants, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionHeader } from '../../protocol/generated/vocabulary.ts';
import { AppendFile } from '../../system/files/append-file.ts';
import type { Lock } from '../../system/files/lock.ts';
import { realPath } from '../../system/files/real-path.ts';
import { refuseClusterFile } from './cluster-files.ts';
import type { ForkSource } from './fork.ts';
import { CURRENT_VERSION, type NewHeader, newHeader, notASession, readHeader } from './header.ts';
import { EntryIndex } from './indexing/entry-index.ts';
import { type LineFacts, parseFacts, parseObject } from './indexing/line-facts.ts';
import { MAX_ENTRY_BYTES, scan } from './indexing/scan.ts';
import { type Lines, MemoryLines } from './lines.ts';
import { migrate, migrateFile } from './migrate.ts';
import { SessionLock } from './session-lock.ts';

/** A session file that this process has locked, with its index. */
export interface SessionFile {
  readonly path: string;
  readonly header: SessionHeader;
  readonly lines: AppendFile;
  readonly lock: Lock;
  readonly index: EntryIndex;
  /** The row of the last entry, or of its parent if that entry is a leaf mark. */
  readonly leaf: number | undefined;
  readonly tornBytes: number;
  /** Lines that hold neither entry nor header. A file with such lines is never removed. */
  readonly unknownLines: number;
  /** Whether it was just created. */
  readonly isNew: boolean;
}

/** A session file that is read without its lock, as it was at one moment. */
export type ReadOnlySessionFile = Omit<SessionFile, 'lock' | 'lines'> & { readonly lines: Lines };

const MODE = 0o600;

/**
 * The `customType` of entries that store a moved leaf. Programs that do not know them continue from the same entry:
 * such an entry is the last line and a child of the new leaf.
 */
export const LEAF_MARK = 'tau:leaf';

/** How a session file may be used. */
export interface SessionFileAccess {
  /** Whether it may be the copy of a log of a cluster: its caller follows the log. */
  readonly ofCluster?: boolean | undefined;
}

interface OpenFileOptions extends SessionFileAccess {
  readonly create?: NewHeader | undefined;
}

/** Opens a session file under its lock; with `create`, creates it when it is missing or empty and its folder exists. */
export async function openSessionFile(
  path: string,
  { create, ofCluster = false }: OpenFileOptions = {},
): Promise<SessionFile> {
  const found = fileKind(path);
  if (found === 'nothing' && !(create && fileKind(dirname(path)) === 'folder')) throw notFound(path);
  if (found === 'folder' || found === 'other') throw notASession(path);
  if (!ofCluster) refuseClusterFile(path);
  return openUnderLock(path, () => {
    const isNew = create !== undefined && writeFirstLine(realPath(path), newHeader(create));
    return load(path, { isNew });
  });
}

/**
 * Reads a session file and changes nothing: it needs no lock, a torn last line is ignored, and an older version is
 * migrated in memory. Lines that another process appends later are not seen.
 */
export function readSessionFile(path: string): ReadOnlySessionFile {
  requireFile(path);
  const header = headerIn(path);
  if (isOutdated(header)) return migrateInMemory(path, header);
  const { index, end, unknownLines, ...scanned } = scanFile(path);
  const lines = AppendFile.openForReading(realPath(path));
  try {
    const line = lastLine(lines, end);
    const facts = line === undefined ? undefined : parseFacts(line);
    const length = lines.size - end;
    const leaf = facts && facts.type !== 'session' ? index.add(facts, { offset: end, length }) : scanned.leaf;
    return { path, header, lines, index, leaf: resolveLeaf(index, leaf), tornBytes: 0, unknownLines, isNew: false };
  } catch (error) {
    lines.close();
    throw error;
  }
}

/** Creates a session file that does not exist yet. */
export async function createSessionFile(path: string, header: SessionHeader): Promise<SessionFile> {
  return openUnderLock(path, () => {
    if (fileKind(path) !== 'nothing') throw new Refusal('invalid_params', `File exists already: ${path}`);
    writeFirstLine(path, header);
    const lines = AppendFile.open(realPath(path), { create: false });
    return {
      path,
      header,
      lines,
      index: new EntryIndex(),
      leaf: undefined,
      tornBytes: 0,
      unknownLines: 0,
      isNew: true,
    };
  });
}

/** Creates a session file that holds a fork. */
export async function forkSessionFile(path: string, header: SessionHeader, source: ForkSource): Promise<SessionFile> {
  const { writeFork } = await import('./fork.ts');
  return openUnderLock(path, () => {
    writeFork(path, header, source);
    return load(path, { isNew: true });
  });
}

/** Runs `work` under the lock of a session file that is not open. Reads only its header. */
export async function withSessionLock<T>(
  path: string,
  work: (header: SessionHeader) => T,
  { ofCluster = false }: SessionFileAccess = {},
): Promise<T> {
  requireFile(path);
  if (!ofCluster) refuseClusterFile(path);
  const lock = await SessionLock.acquire(path);
  try {
    return work(headerIn(path));
  } finally {
    await lock.release();
  }
}

async function openUnderLock(path: string, make: () => Omit<SessionFile, 'lock'>): Promise<SessionFile> {
  const lock = await SessionLock.acquire(path);
  let file: Omit<SessionFile, 'lock'> | undefined;
  try {
    file = make();
    // It was just created, or migrated.
    await lock.lockContent();
    return { ...file, lock };
  } catch (error) {
    await lock.release();
    file?.lines.close();
    throw error;
  }
}

/** Writes the header unless the file has content; returns whether it did. */
function writeFirstLine(path: string, header: SessionHeader): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && stats.size > 0) return false;
  try {
    writeFileSync(path, `${JSON.stringify(header)}\n`, { flag: stats ? 'a' : 'wx', mode: MODE });
    return true;
  } catch (error) {
    if (!stats && !hasCode(error, 'EEXIST')) rmSync(path, { force: true });
    throw error;
  }
}

function load(path: string, { isNew }: { isNew: boolean }): Omit<SessionFile, 'lock'> {
  const header = currentHeader(path);
  const { index, end, unknownLines, ...scanned } = scanFile(path);
  const lines = AppendFile.open(realPath(path), { create: false });
  try {
    const { facts, tornBytes } = repairTail(lines, end);
    const length = lines.size - end - 1;
    const leaf = facts && facts.type !== 'session' ? index.add(facts, { offset: end, length }) : scanned.leaf;
    return { path, header, lines, index, leaf: resolveLeaf(index, leaf), tornBytes, unknownLines, isNew };
  } catch (error) {
    lines.close();
    throw error;
  }
}

/** The index of all whole lines, and the row of the last one. */
function scanFile(path: string) {
  const index = new EntryIndex();
  let leaf: number | undefined;
  const { end, unknownLines } = withOpenFile(path, (fd) =>
    scan(fd, (facts, span) => {
      leaf = index.add(facts, span);
      return undefined;
    }),
  );
  return { index, leaf, end, unknownLines };
}

/** Completes the index; a leaf mark stands for its parent. */
function resolveLeaf(index: EntryIndex, leaf: number | undefined): number | undefined {
  index.resolve();
  return leaf !== undefined && index.node(leaf).customType === LEAF_MARK ? index.parent(leaf) : leaf;
}

/** The header, after migrating older versions. */
function currentHeader(path: string): SessionHeader {
  const header = headerIn(path);
  if (!isWritable(path)) throw new Refusal('permission_denied', `Session file cannot be written: ${path}`);
  if (!isOutdated(header)) return header;
  migrateFile(path, header.version ?? 1);
  return { ...header, version: CURRENT_VERSION };
}

function headerIn(path: string): SessionHeader {
  const header = withOpenFile(path, readHeader);
  if (!header) throw notASession(path);
  return header;
}

const isOutdated = ({ version = 1 }: SessionHeader) => version < CURRENT_VERSION;

function migrateInMemory(path: string, header: SessionHeader): ReadOnlySessionFile {
  const lines = new MemoryLines();
  const index = new EntryIndex();
  let leaf: number | undefined;
  let unknownLines = 0;
  for (const line of migrate(readFileSync(path, 'utf8'), header.version ?? 1).split('\n')) {
    const facts = parseFacts(line);
    if (!facts && line !== '') unknownLines++;
    if (facts && facts.type !== 'session')
      leaf = index.add(facts, { offset: lines.size, length: Buffer.byteLength(line) });
    lines.append(`${line}\n`);
  }
  const current = { ...header, version: CURRENT_VERSION };
  leaf = resolveLeaf(index, leaf);
  return { path, header: current, lines, index, leaf, tornBytes: 0, unknownLines, isNew: false };
}

/** Completes a whole last line without line feed; cuts off a partial one, which was never acknowledged. */
function repairTail(lines: AppendFile, end: number): { facts?: LineFacts | undefined; tornBytes: number } {
  const length = lines.size - end;
  if (length === 0) return { tornBytes: 0 };
  const line = lastLine(lines, end);
  if (line !== undefined) {
    lines.append('\n');
    return { facts: parseFacts(line), tornBytes: 0 };
  }
  lines.truncate(end);
  return { tornBytes: length };
}

/** The text after the last line feed if it is a whole line. */
function lastLine(lines: AppendFile, end: number): string | undefined {
  const length = lines.size - end;
  const line = length > MAX_ENTRY_BYTES ? '' : lines.read(end, length).toString();
  return typeof parseObject(line)?.['id'] === 'string' ? line : undefined;
}

/** Runs `read` on the open file. An unreadable file is not a session, a missing one is not found. */
function withOpenFile<T>(path: string, read: (fd: number) => T): T {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY);
  } catch (error) {
    throw hasCode(error, 'ENOENT') ? notFound(path) : notASession(path);
  }
  try {
    return read(fd);
  } finally {
    closeSync(fd);
  }
}

function requireFile(path: string): void {
  const found = fileKind(path);
  if (found === 'nothing') throw notFound(path);
  if (found !== 'file') throw notASession(path);
}

function fileKind(path: string): 'nothing' | 'file' | 'folder' | 'other' {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) return 'nothing';
    if (stats.isDirectory()) return 'folder';
    return stats.isFile() ? 'file' : 'other';
  } catch {
    return 'other';
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const hasCode = (error: unknown, code: string) => (error as NodeJS.ErrnoException).code === code;

const notFound = (path: string) => new Refusal('session_not_found', `Session not found: ${path}`);
