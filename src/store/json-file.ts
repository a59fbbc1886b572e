import { readFileSync, statSync } from 'node:fs';
import { isObject, type JsonObject } from '../protocol/json.ts';
import { reachableStats } from '../system/files/reachable-stats.ts';

// Larger files are rejected.
const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

// Bounds the recursion of everything that reads the object.
const MAX_CONFIG_DEPTH = 50;

// A malformed file that was written less than this time ago may be incomplete: another program is writing it.
const BEING_WRITTEN_MS = 1000;

// How often and after which delay such a file is read again.
const MAX_REREADS = 10;
const REREAD_DELAY_MS = 20;

/** The content of a file is no JSON object. The message quotes nothing from the file. */
export class MalformedFile extends Error {
  override readonly name = 'MalformedFile';
}

/**
 * Reads the object in a configuration file; undefined when there is no file. A malformed file that another program may
 * be writing is read again for a moment; no other file takes longer for that.
 *
 * Throws an error that describes the problem but quotes nothing from the file: `MalformedFile` for its content.
 */
export function readJsonObject(path: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  for (let rereads = 0; ; rereads++) {
    try {
      return readOnce(path, parse);
    } catch (error) {
      if (!(error instanceof MalformedFile) || rereads >= MAX_REREADS || !wasJustWritten(path)) throw error;
      sleepSync(REREAD_DELAY_MS);
    }
  }
}

function readOnce(path: string, parse: (text: string) => unknown): JsonObject | undefined {
  const value = parseFile(path, parse);
  if (value === undefined) return undefined;
  if (!isObject(value)) throw new MalformedFile('the file must hold an object');
  if (!isNestedWithin(value, MAX_CONFIG_DEPTH))
    throw new MalformedFile(`the file is nested more than ${MAX_CONFIG_DEPTH} levels deep`);
  return value;
}

const wasJustWritten = (path: string) => Math.abs(Date.now() - (reachableStats(path)?.mtimeMs ?? 0)) < BEING_WRITTEN_MS;

const sleepSync = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

function parseFile(path: string, parse: (text: string) => unknown): unknown {
  try {
    const stats = statSync(path);
    // Reading a pipe or a device may block for ever.
    if (!stats.isFile()) throw new Error('this is not a file');
    if (stats.size > MAX_CONFIG_BYTES) throw new Error(`the file is larger than ${MAX_CONFIG_BYTES} bytes`);
    // Some editors write a byte-order mark.
    return parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (error instanceof SyntaxError) throw new MalformedFile(withoutQuote(message));
    throw new Error(code === undefined ? message : `the file cannot be read (${code})`);
  }
}

/** A stamp that changes whenever the file is written or replaced. */
export function fileStamp(path: string): string {
  try {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? '';
  }
}

/** The content of a file and its stamp at that time. */
export interface FileSnapshot<T> {
  readonly stamp: string;
  readonly content: T;
}

/** Returns `before` itself unless the file has changed since. */
export function readIfChanged<T>(path: string, read: () => T, before?: FileSnapshot<T>): FileSnapshot<T> {
  // Before the content: a write in between is found next time.
  const stamp = fileStamp(path);
  return before?.stamp === stamp ? before : { stamp, content: read() };
}

/** JSON.parse quotes the file around the mistake; its content must not reach a log. */
const withoutQuote = (message: string): string =>
  message.replace(/, (\.\.\.)?".*is not valid JSON$/s, ': not valid JSON');

export function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isNestedWithin(inner, depth - 1));
}
