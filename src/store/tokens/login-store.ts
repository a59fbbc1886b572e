import { join } from 'node:path';
import { check, type Schema } from '../../protocol/check.ts';
import { messageOf } from '../../protocol/errors.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { makeServerFolder, serverFolder } from '../agent-dir.ts';
import { changeJsonFile } from '../change-json-file.ts';
import { readJsonObject } from '../json-file.ts';
import { newEntryId } from '../sessions/random-id.ts';
import { digestOf, newSecret, SHA256 } from './token-record.ts';

/** When exceeded, the oldest login is removed. */
export const MAX_LOGINS = 200;

/** A browser login. The secret in its cookie is not stored. */
export interface LoginRecord {
  readonly id: string;
  readonly sha256: string;
  /** The digest of the token that was used, or `owner`. */
  readonly source: string;
  readonly createdAt: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

const entrySchema: Schema = {
  type: 'object',
  required: ['sha256', 'source', 'createdAt', 'expiresAt'],
  properties: {
    sha256: { type: 'string' },
    source: { type: 'string', minLength: 1 },
    createdAt: { type: 'number' },
    expiresAt: { type: 'number' },
  },
};

export const loginStorePath = (agentDir: string): string => join(serverFolder(agentDir), 'logins.json');

/** Every stored login, oldest first. Throws when the file is malformed. */
export function readLogins(agentDir: string): readonly LoginRecord[] {
  try {
    return recordsIn(readJsonObject(loginStorePath(agentDir)) ?? {});
  } catch (error) {
    throw new Error(`logins.json: ${messageOf(error)}`);
  }
}

/** Stores a new login and returns the secret for its cookie, which is stored nowhere. */
export async function addLogin(agentDir: string, login: { source: string; expiresAt: number }): Promise<string> {
  const secret = newSecret();
  await change(agentDir, (logins) => {
    const id = newEntryId((taken) => logins.some((other) => other.id === taken));
    return [...logins, { ...login, id, sha256: digestOf(secret), createdAt: Date.now() }].slice(-MAX_LOGINS);
  });
  return secret;
}

/** Removes the logins with these digests. */
export const removeLogins = (agentDir: string, digests: ReadonlySet<string>): Promise<void> =>
  change(agentDir, (logins) => logins.filter(({ sha256 }) => !digests.has(sha256)));

async function change(
  agentDir: string,
  work: (logins: readonly LoginRecord[]) => readonly LoginRecord[],
): Promise<void> {
  makeServerFolder(agentDir);
  const after = (before: JsonObject): JsonObject => {
    const live = recordsIn(before).filter(({ expiresAt }) => expiresAt > Date.now());
    return { ...before, logins: Object.fromEntries(work(live).map(({ id, ...login }) => [id, login])) };
  };
  await changeJsonFile(loginStorePath(agentDir), after, { mode: 0o600, name: 'logins.json' });
}

/** Invalid entries grant no access and are removed by the next change. */
function recordsIn({ logins = {} }: JsonObject): readonly LoginRecord[] {
  if (!isObject(logins)) throw new Error('logins must be an object');
  return Object.entries(logins)
    .filter(([, entry]) => check(entrySchema, entry) === undefined)
    .map(([id, entry]) => ({ ...(entry as Omit<LoginRecord, 'id'>), id }))
    .filter(({ sha256 }) => SHA256.test(sha256))
    .sort((one, other) => one.createdAt - other.createdAt);
}
