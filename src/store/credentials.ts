import { join } from 'node:path';
import { check, type Schema } from '../protocol/check.ts';
import { messageOf, Refusal } from '../protocol/errors.ts';
import { isObject, type JsonObject } from '../protocol/json.ts';
import { changeJsonFile } from './change-json-file.ts';
import { escapeValue } from './config-value.ts';
import { readJsonObject } from './json-file.ts';

/** A credential in `auth.json`. */
export type Credential =
  | {
      readonly type: 'api_key';
      /** As written: see `resolveValue`. */
      readonly key: string;
      /** Variables that override the environment for this provider. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | OAuthCredential;

/** The result of a sign-in, which may hold more fields. */
export interface OAuthCredential {
  readonly type: 'oauth';
  readonly access: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

export interface Credentials {
  readonly credentials: ReadonlyMap<string, Credential>;
  /** Holds one sentence per entry that is invalid and ignored. */
  readonly problems: readonly string[];
}

const nonEmpty: Schema = { type: 'string', minLength: 1 };

const oauthSchema: Schema = {
  type: 'object',
  required: ['type', 'access', 'expires'],
  properties: { type: { const: 'oauth' }, access: nonEmpty, expires: { type: 'number' } },
};

export const credentialsPath = (agentDir: string): string => join(agentDir, 'auth.json');

/** Reads the stored credentials. Never throws: invalid entries are ignored. */
export function readCredentials(agentDir: string): Credentials {
  const credentials = new Map<string, Credential>();
  const problems: string[] = [];
  try {
    for (const [provider, value] of Object.entries(readJsonObject(credentialsPath(agentDir)) ?? {})) {
      const problem = check({ type: 'object', properties: { [provider]: schemaFor(value) } }, { [provider]: value });
      if (problem === undefined) credentials.set(provider, value as Credential);
      else problems.push(`auth.json: ${problem}`);
    }
  } catch (error) {
    problems.push(`auth.json: ${messageOf(error)}`);
  }
  return { credentials, problems };
}

/**
 * Stores the key of one provider and leaves all others unchanged. Only the user can read the file afterwards.
 *
 * Processes take turns. A malformed file is not written: the call rejects.
 */
export async function storeApiKey(agentDir: string, { provider, key }: { provider: string; key: string }) {
  await changeJsonFile(credentialsPath(agentDir), (before) => withKey(before, provider, key), {
    mode: 0o600,
    name: 'auth.json',
  });
}

/** Removes the stored key of one provider. Rejects with a `Refusal` if there is none. */
export async function removeApiKey(agentDir: string, provider: string): Promise<void> {
  await changeJsonFile(credentialsPath(agentDir), (before) => withoutKey(before, provider), {
    mode: 0o600,
    name: 'auth.json',
  });
}

/**
 * Renews an expired sign-in and returns the stored one. Processes take turns: one that finds it renewed by another uses
 * that.
 */
export async function renewSignIn(
  agentDir: string,
  provider: string,
  renew: (expired: OAuthCredential) => Promise<unknown>,
): Promise<OAuthCredential> {
  let stored: OAuthCredential | undefined;
  const change = async (before: JsonObject): Promise<JsonObject> => {
    const old = before[provider];
    if (check(oauthSchema, old) !== undefined) throw new Error(`auth.json holds no sign-in for ${provider} any more`);
    stored = old as OAuthCredential;
    if (stored.expires > Date.now()) return before;
    const fresh = await renew(stored);
    const problem = isObject(fresh) ? check(oauthSchema, { ...fresh, type: 'oauth' }) : 'it must be an object';
    if (problem !== undefined) throw new Error(`the renewed sign-in makes no sense: ${problem}`);
    stored = { ...stored, ...(fresh as OAuthCredential), type: 'oauth' };
    return { ...before, [provider]: stored };
  };
  await changeJsonFile(credentialsPath(agentDir), change, { mode: 0o600, name: 'auth.json' });
  if (!stored) throw new Error('auth.json was not changed');
  return stored;
}

function withKey(before: JsonObject, provider: string, key: string): JsonObject {
  const old = before[provider];
  const kept = isObject(old) && old['type'] === 'api_key' ? old : {};
  return { ...before, [provider]: { ...kept, type: 'api_key', key: escapeValue(key) } };
}

function withoutKey(before: JsonObject, provider: string): JsonObject {
  const { [provider]: old, ...others } = before;
  if (isObject(old) && old['type'] === 'api_key') return others;
  const elsewhere = 'One of the environment, of models.json or of a sign-in has to be removed there.';
  throw new Refusal('not_found', `auth.json holds no key for ${provider}. ${elsewhere}`);
}

function schemaFor(value: unknown): Schema {
  const env = isObject(value) && isObject(value['env']) ? Object.keys(value['env']) : [];
  const variables = Object.fromEntries(env.map((name): [string, Schema] => [name, { type: 'string' }]));
  return {
    anyOf: [
      {
        type: 'object',
        required: ['type', 'key'],
        properties: { type: { const: 'api_key' }, key: nonEmpty, env: { type: 'object', properties: variables } },
      },
      oauthSchema,
    ],
  };
}
