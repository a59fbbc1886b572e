import { readFileSync, statSync } from 'node:fs';
import { isObject, type JsonObject } from '../protocol/json.ts';

// Larger files are rejected.
const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

// Bounds the recursion of everything that reads the object.
const MAX_CONFIG_DEPTH = 50;

/**
 * Reads the object in a configuration file; undefined when there is no file.
 *
 * Throws an error that describes the problem but quotes nothing from the file.
 */
export function readJsonObject(path: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  const value = parseFile(path, parse);
  if (value === undefined) return undefined;
  if (!isObject(value)) throw new Error('the file must hold an object');
  if (!isNestedWithin(value, MAX_CONFIG_DEPTH))
    throw new Error(`the file is nested more than ${MAX_CONFIG_DEPTH} levels deep`);
  return value;
}

function parseFile(path: string, parse: (text: string) => unknown): unknown {
  try {
    const stats = statSync(path);
    // Reading a pipe or a device may block for ever.
    if (!stats.isFile()) throw new Error('this is not a file');
    if (stats.size > MAX_CONFIG_BYTES) throw new Error(`the file is larger than ${MAX_CONFIG_BYTES} bytes`);
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(code === undefined ? withoutQuote(message) : `the file cannot be read (${code})`);
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
