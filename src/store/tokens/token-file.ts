import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import type { ApprovalMode } from '../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { expandHome } from '../agent-dir.ts';
import { readJsonObject } from '../json-file.ts';
import { digestOf, entryProblem, isGuessable, type Scope, type TokenRecord } from './token-record.ts';

// Scopes of a token without `scopes`.
const DEFAULT_SCOPES: readonly Scope[] = ['view', 'prompt', 'bash'];

// Digits of the digest in a token id.
const ID_DIGITS = 8;

const OTHERS_MODE_BITS = 0o077;

const shape = { required: [] } as const;

/**
 * Reads a token file that a user wrote, in plain text, as the remote session server guide shows it; undefined when
 * there is no file.
 *
 * Throws when any entry is invalid. Errors quote no token: they name entries by number.
 */
export function readTokenFile(path: string): readonly TokenRecord[] | undefined {
  try {
    const file = readJsonObject(path);
    if (file === undefined) return undefined;
    if (!isObject(file['tokens'])) throw new Error('tokens must be an object');
    return withIds(Object.entries(file['tokens']).map(recordOf));
  } catch (error) {
    throw new Error(`${path}: ${messageOf(error)}`);
  }
}

/** Whether other users of this machine can read or change the file. */
export function isOpenToOthers(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && (stats.mode & OTHERS_MODE_BITS) !== 0;
}

function recordOf([token, entry]: [string, unknown], index: number): TokenRecord {
  const problem = token.trim() === '' ? 'a token must not be empty' : entryProblem(entry, shape);
  if (problem !== undefined) throw new Error(`token ${index + 1}: ${problem}`);
  const {
    name = `token ${index + 1}`,
    scopes = DEFAULT_SCOPES,
    allowedPaths,
    limit,
    createdAt,
    expiresAt,
  } = entry as JsonObject;
  const paths = (allowedPaths as string[] | undefined)?.map((path) => expandHome(path));
  if (paths && !paths.every((path) => isAbsolute(path))) {
    throw new Error(`token ${index + 1}: allowedPaths must be absolute paths`);
  }
  return {
    id: '',
    name: name as string,
    sha256: digestOf(token),
    scopes: scopes as readonly Scope[],
    allowedPaths: paths,
    limit: limit as ApprovalMode | undefined,
    createdAt: createdAt as string | undefined,
    expiresAt: expiresAt as string | undefined,
    lastUsedAt: undefined,
    isGuessable: isGuessable(token),
  };
}

/** Ids derive from public fields: a weak token could be guessed from its digest. */
function withIds(records: readonly TokenRecord[]): readonly TokenRecord[] {
  const taken = new Map<string, number>();
  return records.map((record) => {
    const base = `file-${digestOf(JSON.stringify([record.name, record.createdAt])).slice(0, ID_DIGITS)}`;
    const count = (taken.get(base) ?? 0) + 1;
    taken.set(base, count);
    return { ...record, id: count === 1 ? base : `${base}-${count}` };
  });
}
