import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../protocol/json.ts';
import { MalformedFile } from '../json-file.ts';

/** The limits that count in place of a value that cannot be used. */
export const STRICT_LIMITS = { approvals: { mode: 'ask' }, sandbox: { use: 'required' } } as const;

/** A settings file that was read. */
export interface ReadSettings {
  /** The values that can be used. */
  readonly values: JsonObject;
  /** Everything in the file, or why that is not known. */
  readonly content: JsonObject | Error;
}

/**
 * Limits that the user's settings name without a value that can be used: they count as strict ones, since a mistake must
 * not leave everything allowed.
 */
export function strictLimits(file: string, { values, content }: ReadSettings): [name: string, limit: JsonObject][] {
  const missing = Object.entries(STRICT_LIMITS).filter(([name]) => values[name] === undefined);
  if (content instanceof MalformedFile) return missing.filter(([name]) => isNamedIn(file, name));
  if (content instanceof Error) return [];
  const keys = Object.keys(content).map((key) => key.toLowerCase());
  return missing.filter(([name]) =>
    keys.some((key) => key === name || key.startsWith(`${name}.`) || `${key}s` === name),
  );
}

/** Whether a malformed file names a group of settings. Without NUL characters also UTF-16 can be searched. */
const isNamedIn = (file: string, name: string) =>
  readFileSync(file, 'utf8').replaceAll('\0', '').toLowerCase().includes(name);
