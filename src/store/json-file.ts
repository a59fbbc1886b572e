import { readFileSync, statSync } from 'node:fs';

/** An object as a file holds it: nothing is known of what is in it. */
export type JsonObject = Record<string, unknown>;

/** Configuration that is longer than this is none. */
const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

/** Nobody nests so deep by hand; what recurses over it may trust that it ends. */
const MAX_CONFIG_DEPTH = 50;

/**
 * The object that a file of configuration holds, or undefined when there is no file.
 *
 * Throws an error whose message tells what is wrong with the file, but nothing of what stands in it.
 */
export function readJsonObject(path: string, parse: (text: string) => unknown = JSON.parse): JsonObject | undefined {
  const value = parseFile(path, parse);
  if (value === undefined) return undefined;
  if (!isObject(value)) throw new Error('the file must hold an object');
  if (!isNestedWithin(value, MAX_CONFIG_DEPTH)) throw new Error(`the file is nested more than ${MAX_CONFIG_DEPTH} levels deep`);
  return value;
}

function parseFile(path: string, parse: (text: string) => unknown): unknown {
  try {
    const stats = statSync(path);
    // A pipe or a device may keep its reader waiting for ever.
    if (!stats.isFile()) throw new Error('this is not a file');
    if (stats.size > MAX_CONFIG_BYTES) throw new Error(`the file is larger than ${MAX_CONFIG_BYTES} bytes`);
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(code === undefined ? withoutQuote(message) : `the file cannot be read (${code})`);
  }
}

/** Changes whenever a file is written or replaced. */
export function fileStamp(path: string): string {
  try {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? '';
  }
}

/** JSON.parse quotes the file around the mistake; what stands in the file goes to no log. */
const withoutQuote = (message: string): string =>
  message.replace(/, (\.\.\.)?".*is not valid JSON$/s, ': not valid JSON');

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value is nested no deeper than this. */
export function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isNestedWithin(inner, depth - 1));
}
