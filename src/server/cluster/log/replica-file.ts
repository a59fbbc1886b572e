import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { RunRecords } from '../../../store/run-journal.ts';
import { readAt } from '../../../store/sessions/entry-reader.ts';
import { headerOf, sessionFileName } from '../../../store/sessions/header.ts';
import { parseFacts } from '../../../store/sessions/indexing/line-facts.ts';
import { makePrivateFolder } from '../../../system/files/make-folder.ts';
import { sessionIdIn } from '../cluster-index.ts';
import type { FencedLog } from './fenced-log.ts';
import { RecordJoiner, recordId, type StoredRecord } from './log-record.ts';
import { NO_RUNS, parseRuns } from './log-runs.ts';

// The part of a session's log that a file holds.
interface FilePosition {
  // The last record of the log that is in the file.
  readonly seq: number;
  // The id of that record.
  readonly record?: string | undefined;
  // The length of the file then: bytes behind it are not known to be in the log.
  readonly bytes: number;
  // The latest mark of the runs up to there.
  readonly marks: RunRecords;
  // Whether the session is in the trash there.
  readonly isTrashed?: boolean | undefined;
  // The stream of that log.
  readonly stream?: string | undefined;
}

const AT_START: FilePosition = { seq: 0, bytes: 0, marks: NO_RUNS };

/** A session file that was made from the log. */
export interface Replica {
  /** Undefined while the log holds no entry. */
  readonly path: string | undefined;
  /** Its length. */
  readonly bytes: number;
  readonly lastEntryId: string | undefined;
  readonly marks: RunRecords;
  readonly isTrashed?: boolean | undefined;
}

/** The session files of a node: copies of the logs on which its agents work. */
export class ReplicaFiles {
  readonly folder: string;
  readonly #stream: string | undefined;

  /** `stream`: identifies the stream of the logs. A file that was made from another one is not overwritten. */
  constructor(folder: string, stream?: string) {
    makePrivateFolder(folder);
    this.folder = folder;
    this.#stream = stream;
  }

  get #start(): FilePosition {
    return { ...AT_START, stream: this.#stream };
  }

  /** The file of a session on this node, also if it is outdated. */
  find(sessionId: string): string | undefined {
    const name = readdirSync(this.folder).find((file) => sessionIdIn(file) === sessionId);
    return name === undefined ? undefined : join(this.folder, name);
  }

  /** Brings the file of a session to the state of its log, up to a record. */
  async restore(log: FencedLog, upTo: number): Promise<Replica> {
    const { sessionId } = log;
    const path = this.find(sessionId);
    const position = path === undefined ? this.#start : this.#positionOf(sessionId, path);
    if (position.seq > upTo || position.stream !== this.#stream) throw log.reportRegressed();
    const partial = join(this.folder, `.${sessionId}.partial`);
    const target = position.bytes > 0 && path !== undefined ? path : partial;
    if (target === partial) rmSync(partial, { force: true });
    else truncateSync(target, position.bytes);
    const end = await appendLog(target, log, { position, upTo });
    if (target === partial) this.#finish(partial, path);
    const file = this.find(sessionId);
    if (end.bytes === 0 || file === undefined)
      return { path: undefined, bytes: 0, lastEntryId: undefined, marks: end.marks, isTrashed: end.isTrashed };
    this.storePosition(sessionId, end);
    return { ...this.describe(file), marks: end.marks, isTrashed: end.isTrashed };
  }

  /** A file that holds a whole session. */
  describe(path: string): Replica {
    return { path, bytes: statSync(path).size, lastEntryId: lastIdIn(path), marks: NO_RUNS };
  }

  /** Stores how far the file of a session holds its log: the next restore reads only what is newer. */
  storePosition(sessionId: string, position: Omit<FilePosition, 'stream'>): void {
    const note = this.#noteOf(sessionId);
    writeFileSync(`${note}.new`, JSON.stringify({ ...position, stream: this.#stream }), { mode: 0o600 });
    renameSync(`${note}.new`, note);
  }

  remove(sessionId: string): void {
    const path = this.find(sessionId);
    if (path !== undefined) rmSync(path, { force: true });
    rmSync(this.#noteOf(sessionId), { force: true });
  }

  #finish(partial: string, previous: string | undefined): void {
    const header = existsSync(partial) ? headerOf(partial) : 'missing';
    if (header === 'missing') return;
    if (header === 'foreign') throw new Error(`The log of a session does not begin with a header: ${partial}`);
    const path = previous ?? join(this.folder, sessionFileName(header.id, new Date(header.timestamp)));
    renameSync(partial, path);
  }

  /** Of a file without a note nothing is known. */
  #positionOf(sessionId: string, path: string): FilePosition {
    try {
      const note = JSON.parse(readFileSync(this.#noteOf(sessionId), 'utf8')) as FilePosition;
      return statSync(path).size >= note.bytes ? note : this.#start;
    } catch {
      return this.#start;
    }
  }

  #noteOf(sessionId: string): string {
    return join(this.folder, `.${sessionId}.position`);
  }
}

/** Appends the entries of the log behind a position to a file; returns the new position. */
async function appendLog(
  path: string,
  log: FencedLog,
  { position, upTo }: { position: FilePosition; upTo: number },
): Promise<FilePosition> {
  const joiner = new RecordJoiner();
  let { bytes, marks, isTrashed, record: lastId } = position;
  let fd: number | undefined;
  try {
    for await (const message of readFrom(log, position, upTo)) {
      lastId = recordId(message);
      const record = joiner.add(message);
      if (record?.kind === 'mark') marks = parseRuns(record.data);
      if (record?.kind === 'trash' || record?.kind === 'restore') isTrashed = record.kind === 'trash';
      if (record?.kind !== 'entries') continue;
      fd ??= openSync(path, 'a', 0o600);
      writeSync(fd, record.data);
      bytes += record.data.length;
    }
    if (fd !== undefined) fdatasyncSync(fd);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  return { seq: upTo, record: lastId, bytes, marks, isTrashed };
}

/** The records behind a position. Throws if the log does not hold the record at the position: it has another past. */
async function* readFrom(log: FencedLog, { seq, record }: FilePosition, upTo: number): AsyncGenerator<StoredRecord> {
  if (record === undefined) {
    yield* log.read(seq, upTo);
    return;
  }
  let isFirst = true;
  for await (const message of log.read(seq - 1, upTo)) {
    if (isFirst && (message.seq !== seq || recordId(message) !== record)) throw log.reportRegressed();
    if (!isFirst) yield message;
    isFirst = false;
  }
}

// The end of a file that usually holds its last entry; a longer one is read whole.
const TAIL_BYTES = 64 * 1024;

/** The id of the last entry in a file; undefined if there is only the header. */
function lastIdIn(path: string): string | undefined {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const start = Math.max(0, size - TAIL_BYTES);
    const tail = readAt(fd, start, size - start)
      .toString()
      .split('\n');
    if (start === 0) return lastEntryId(tail);
    return lastEntryId(tail.slice(1)) ?? lastEntryId(readAt(fd, 0, size).toString().split('\n'));
  } finally {
    closeSync(fd);
  }
}

/** Other programs may have left lines that are no entries. */
function lastEntryId(lines: readonly string[]): string | undefined {
  for (const line of lines.toReversed()) {
    const facts = parseFacts(line);
    if (facts && facts.type !== 'session') return facts.id;
  }
  return undefined;
}
