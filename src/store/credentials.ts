import { basename, join } from 'node:path';
import { check, type Schema } from '../protocol/check.ts';
import { messageOf, Refusal } from '../protocol/errors.ts';
import { isObject, type JsonObject } from '../protocol/json.ts';
import { changeJsonFile } from './change-json-file.ts';
import { escapeValue } from './config-value.ts';
import { readJsonObject } from './json-file.ts';
import { currentProviderId, withCurrentIds } from './provider-ids.ts';

/** A credential in `auth.json`. */
export type Credential =
  | {
      readonly type: 'api_key';
      /** As written: see `resolveValue`. Is omitted where `env` names the credentials, as of a cloud. */
      readonly key?: string;
      /** Variables that override the environment for this provider. */
      readonly env?: Readonly<Record<string, string>>;
    }
  | OAuthCredential;

/** The result of a sign-in, which may hold more fields. */
export interface OAuthCredential {
  readonly type: 'oauth';
  readonly access: string;
  /** Absent or empty if the sign-in cannot be renewed. */
  readonly refresh?: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
  /** When tau received `access`; other programs do not write it. */
  readonly issued?: number;
}

/** The fields of a sign-in that an issuer, or the code of an extension, returned. */
export type NewSignIn = Omit<OAuthCredential, 'type' | 'issued'>;

export interface Credentials {
  readonly credentials: ReadonlyMap<string, Credential>;
  /** Holds one sentence per entry that is invalid and ignored. */
  readonly problems: readonly string[];
}

const nonEmpty: Schema = { type: 'string', minLength: 1 };

const oauthSchema: Schema = {
  type: 'object',
  required: ['type', 'access', 'expires'],
  properties: { type: { const: 'oauth' }, access: nonEmpty, refresh: { type: 'string' }, expires: { type: 'number' } },
};

export const credentialsPath = (agentDir: string): string => join(agentDir, 'auth.json');

/** Reads the stored credentials. Never throws: invalid entries are ignored. */
export const readCredentials = (agentDir: string): Credentials => readCredentialsFile(credentialsPath(agentDir));

/** Reads the credentials of a file with the form of `auth.json`. Never throws: invalid entries are ignored. */
export function readCredentialsFile(path: string): Credentials {
  const name = basename(path);
  const credentials = new Map<string, Credential>();
  const problems: string[] = [];
  try {
    for (const [provider, value] of Object.entries(readJsonObject(path) ?? {})) {
      const problem = check({ type: 'object', properties: { [provider]: schemaFor(value) } }, { [provider]: value });
      if (problem === undefined) credentials.set(provider, value as Credential);
      else problems.push(`${name}: ${problem}`);
    }
  } catch (error) {
    problems.push(`${name}: ${messageOf(error)}`);
  }
  return { credentials: withCurrentIds(credentials), problems };
}

/** Trims an API key and rejects anything but one word. */
export function parseApiKey(text: string): string {
  const key = text.trim();
  if (/^[^\s\p{C}]+$/u.test(key)) return key;
  throw new Refusal('invalid_params', 'A key is one word, without spaces, line breaks or control characters');
}

/**
 * Stores the key of one provider and leaves all others unchanged. Only the user can read the file afterwards.
 *
 * Processes take turns, also with those of pi. A malformed file is not written: the call rejects.
 */
export async function storeApiKey(agentDir: string, { provider, key }: { provider: string; key: string }) {
  await changeCredentials(agentDir, (before) => withKey(before, provider, key));
}

/** Stores a new sign-in in place of every other credential of its provider. Rejects one that has expired. */
export async function storeSignIn(agentDir: string, provider: string, fresh: unknown): Promise<OAuthCredential> {
  const credential = parseSignIn(fresh);
  await changeCredentials(agentDir, (before) => ({ ...without(before, provider), [provider]: credential }));
  return credential;
}

/** Removes the stored key of one provider. Rejects with a `Refusal` if there is none. */
export async function removeApiKey(agentDir: string, provider: string): Promise<void> {
  await changeCredentials(agentDir, (before) => withoutKey(before, provider));
}

/** Removes the stored key or sign-in of one provider; false if there is none. */
export async function removeCredential(agentDir: string, provider: string): Promise<boolean> {
  let found = false;
  await changeCredentials(agentDir, (before) => {
    found = stored(before, provider) !== undefined;
    return found ? without(before, provider) : before;
  });
  return found;
}

/** How a sign-in is renewed. */
export interface Renewal {
  /** Whether the stored sign-in has to be renewed; otherwise another process has done it, and its result is used. */
  readonly isDue: (stored: OAuthCredential) => boolean;
  readonly renew: (stored: OAuthCredential) => Promise<unknown>;
}

/**
 * Renews the sign-in of a provider under the lock of the file and returns the stored one. Fields that the renewal omits
 * keep their values.
 */
export async function renewSignIn(
  agentDir: string,
  provider: string,
  { isDue, renew }: Renewal,
): Promise<OAuthCredential> {
  let current: OAuthCredential | undefined;
  let renewed: { readonly from: OAuthCredential; readonly to: OAuthCredential } | undefined;
  await changeCredentials(agentDir, async (before) => {
    const found = stored(before, provider);
    if (check(oauthSchema, found) !== undefined) throw new Error(`auth.json holds no sign-in for ${provider} any more`);
    const old = found as OAuthCredential;
    current = old;
    // The lock was lost after the exchange: the result is stored unless another process has signed in meanwhile.
    const isOwn = renewed !== undefined && renewed.from.refresh === old.refresh;
    if (!isOwn && !isDue(old)) return before;
    renewed = isOwn ? renewed : { from: old, to: parseSignIn(await renew(old), old) };
    current = renewed?.to ?? old;
    return { ...without(before, provider), [provider]: current };
  });
  if (!current) throw new Error('auth.json was not read');
  return current;
}

/** Changes the file under the locks of tau and of pi. */
const changeCredentials = (agentDir: string, change: Parameters<typeof changeJsonFile>[1]): Promise<void> =>
  changeJsonFile(credentialsPath(agentDir), change, { mode: 0o600, name: 'auth.json', lock: 'folder' });

/** Checks what an issuer or an extension returned. */
function parseSignIn(fresh: unknown, old?: OAuthCredential): OAuthCredential {
  const problem = isObject(fresh) ? check(oauthSchema, { ...fresh, type: 'oauth' }) : 'it must be an object';
  if (problem !== undefined) throw new Error(`the new sign-in is invalid: ${problem}`);
  const credential = { ...old, ...(fresh as OAuthCredential), type: 'oauth' as const, issued: Date.now() };
  if (credential.expires <= credential.issued)
    throw new Error('the new sign-in has already expired: expires must be in milliseconds since 1970');
  return credential;
}

/** The entry of a provider in the file, under its present id or an old one. */
const stored = (before: JsonObject, provider: string): unknown =>
  withCurrentIds(new Map(Object.entries(before))).get(currentProviderId(provider));

const without = (before: JsonObject, provider: string): JsonObject =>
  Object.fromEntries(Object.entries(before).filter(([id]) => currentProviderId(id) !== currentProviderId(provider)));

function withKey(before: JsonObject, provider: string, key: string): JsonObject {
  const old = stored(before, provider);
  const kept = isObject(old) && old['type'] === 'api_key' ? old : {};
  return { ...without(before, provider), [provider]: { ...kept, type: 'api_key', key: escapeValue(key) } };
}

function withoutKey(before: JsonObject, provider: string): JsonObject {
  const old = stored(before, provider);
  if (isObject(old) && old['type'] === 'api_key') return without(before, provider);
  if (isObject(old))
    throw new Refusal('not_found', `auth.json holds a sign-in for ${provider}, not a key. Run: tau logout ${provider}`);
  const elsewhere = 'One of the environment, of models.json or of an extension has to be removed there.';
  throw new Refusal('not_found', `auth.json holds no key for ${provider}. ${elsewhere}`);
}

function schemaFor(value: unknown): Schema {
  const env = isObject(value) && isObject(value['env']) ? Object.keys(value['env']) : [];
  const variables = Object.fromEntries(env.map((name): [string, Schema] => [name, { type: 'string' }]));
  return {
    anyOf: [
      {
        type: 'object',
        required: isObject(value) && isObject(value['env']) ? ['type'] : ['type', 'key'],
        properties: { type: { const: 'api_key' }, key: nonEmpty, env: { type: 'object', properties: variables } },
      },
      oauthSchema,
    ],
  };
}
