import { join } from 'node:path';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { ApprovalMode } from '../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { makeServerFolder, serverFolder } from '../agent-dir.ts';
import { changeJsonFile } from '../change-json-file.ts';
import { readJsonObject } from '../json-file.ts';
import { newEntryId } from '../sessions/random-id.ts';
import { digestOf, entryProblem, newSecret, type Scope, SHA256, type TokenRecord } from './token-record.ts';

/** Further tokens are rejected. */
export const MAX_TOKENS = 1000;

const shape = {
  required: ['name', 'sha256', 'scopes', 'createdAt'],
  more: { sha256: { type: 'string' }, lastUsedAt: { type: 'string' } },
} as const;

export interface StoredTokens {
  readonly tokens: readonly TokenRecord[];
  /** Holds one sentence per entry that is invalid and ignored. */
  readonly problems: readonly string[];
}

/** The fields of a new token. */
export interface NewToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly allowedPaths?: readonly string[] | undefined;
  readonly limit?: ApprovalMode | undefined;
  readonly expiresAt?: string | undefined;
}

export const tokenStorePath = (agentDir: string): string => join(serverFolder(agentDir), 'tokens.json');

/** The tokens that tau created and the user has not revoked, oldest first. Throws when the file is malformed. */
export function readTokens(agentDir: string): StoredTokens {
  const tokens: TokenRecord[] = [];
  const problems: string[] = [];
  for (const [index, [id, entry]] of Object.entries(entriesIn(readStore(agentDir))).entries()) {
    const token = parseToken(id, entry);
    if (typeof token === 'object') tokens.push(token);
    else problems.push(`tokens.json: token ${index + 1}: ${token}`);
  }
  return { tokens: tokens.sort(byAge), problems };
}

/** The token of a stored entry, or the problem of an invalid one. */
export const parseToken = (id: string, entry: unknown): TokenRecord | string =>
  entryProblem(entry, shape) ?? digestProblem(entry as JsonObject) ?? recordOf(id, entry as JsonObject);

/** Creates a token and stores its digest: the returned token is stored nowhere. */
export async function createToken(agentDir: string, request: NewToken): Promise<{ id: string; token: string }> {
  let created = { id: '', token: '' };
  await change(agentDir, (entries) => {
    const { entry, ...token } = newTokenEntry(entries, request);
    created = token;
    return { ...entries, [token.id]: entry };
  });
  return created;
}

/** A new token with its id, and the entry that is stored. Throws when there are too many. */
export function newTokenEntry(entries: JsonObject, request: NewToken): { id: string; token: string; entry: object } {
  if (Object.keys(entries).length >= MAX_TOKENS)
    throw new Refusal('overloaded', `There are ${MAX_TOKENS} tokens already: revoke some`);
  const token = `tau_${newSecret()}`;
  return {
    id: newEntryId((taken) => Object.hasOwn(entries, taken)),
    token,
    entry: { ...request, sha256: digestOf(token), createdAt: new Date().toISOString() },
  };
}

/** Revokes the token with this id, or else this name. Rejects when none or several match. */
export async function revokeToken(agentDir: string, idOrName: string): Promise<{ id: string; name: string }> {
  let revoked = { id: '', name: '' };
  await change(agentDir, (entries) => {
    revoked = findToken(entries, idOrName);
    const { [revoked.id]: _, ...others } = entries;
    return others;
  });
  return revoked;
}

/** Stores when a token was last used, unless it was revoked meanwhile. */
export async function recordTokenUse(agentDir: string, { id, at }: { id: string; at: number }): Promise<void> {
  await change(agentDir, (entries) => {
    const entry = Object.hasOwn(entries, id) ? entries[id] : undefined;
    return isObject(entry) ? { ...entries, [id]: { ...entry, lastUsedAt: new Date(at).toISOString() } } : entries;
  });
}

async function change(agentDir: string, work: (entries: JsonObject) => JsonObject): Promise<void> {
  makeServerFolder(agentDir);
  await changeJsonFile(tokenStorePath(agentDir), (before) => ({ ...before, tokens: work(entriesIn(before)) }), {
    mode: 0o600,
    name: 'tokens.json',
  });
}

function readStore(agentDir: string): JsonObject {
  try {
    return readJsonObject(tokenStorePath(agentDir)) ?? {};
  } catch (error) {
    throw new Error(`tokens.json: ${messageOf(error)}`);
  }
}

function entriesIn({ tokens = {} }: JsonObject): JsonObject {
  if (!isObject(tokens)) throw new Error('tokens.json: tokens must be an object');
  return tokens;
}

/** The id and name of the token with this id, or else this name. Throws when none or several match. */
export function findToken(entries: JsonObject, idOrName: string): { id: string; name: string } {
  const id = resolveTokenId(entries, idOrName);
  return { id, name: String(nameIn(entries[id]) ?? '') };
}

function resolveTokenId(entries: JsonObject, idOrName: string): string {
  if (Object.hasOwn(entries, idOrName)) return idOrName;
  const ids = Object.keys(entries).filter((id) => nameIn(entries[id]) === idOrName);
  const [id] = ids;
  if (id === undefined) throw new Refusal('not_found', `There is no token ${JSON.stringify(idOrName)}`);
  if (ids.length === 1) return id;
  throw new Refusal('invalid_params', `${ids.length} tokens are named ${JSON.stringify(idOrName)}: ${ids.join(', ')}`);
}

const nameIn = (entry: unknown) => (isObject(entry) ? entry['name'] : undefined);

const digestProblem = ({ sha256 }: JsonObject) =>
  SHA256.test(String(sha256)) ? undefined : 'sha256 must be 64 hexadecimal digits';

/** Oldest first. */
export const byAge = ({ createdAt: one = '' }: TokenRecord, { createdAt: other = '' }: TokenRecord) =>
  one < other ? -1 : Number(one > other);

/** The fields in display order. */
function recordOf(id: string, entry: JsonObject): TokenRecord {
  const { name, sha256, scopes, allowedPaths, limit, createdAt, expiresAt, lastUsedAt } =
    entry as unknown as TokenRecord;
  return { id, name, sha256, scopes, allowedPaths, limit, createdAt, expiresAt, lastUsedAt };
}
