import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../protocol/json.ts';
import { MalformedFile, readJsonObject } from '../json-file.ts';

/** The limits that count in place of a value that cannot be used. */
export const STRICT_LIMITS = { approvals: { mode: 'ask' }, sandbox: { use: 'required' } } as const;

/**
 * Limits that the user's settings name without a value that can be used: they count as strict ones, since a mistake must
 * not leave everything allowed. `values`: those of the file that can be used.
 */
export function strictLimits(file: string, values: JsonObject): [name: string, limit: JsonObject][] {
  const missing = Object.entries(STRICT_LIMITS).filter(([name]) => values[name] === undefined);
  if (missing.length === 0) return [];
  const isNamed = nameTest(file);
  return missing.filter(([name]) => isNamed(name));
}

/** Returns a test whether the file names a group of settings: as a key, or anywhere in a malformed file. */
function nameTest(file: string): (name: string) => boolean {
  try {
    const keys = Object.keys(readJsonObject(file) ?? {}).map((key) => key.toLowerCase());
    return (name) => keys.some((key) => key === name || key.startsWith(`${name}.`) || `${key}s` === name);
  } catch (error) {
    if (!(error instanceof MalformedFile)) return () => false;
    // Without NUL characters also UTF-16 can be searched.
    const text = readFileSync(file, 'utf8').replaceAll('\0', '').toLowerCase();
    return (name) => text.includes(name);
  }
}
