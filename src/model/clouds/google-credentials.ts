import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { readVariable } from '../../store/config-value.ts';
import { readCredentialCommand } from '../../store/credential-command.ts';
import type { TokenSource } from './bearer-signer.ts';
import { adcPath } from './cloud-providers.ts';
import type { Environment, ExpiringValue } from './credential-cache.ts';
import { requestTokenFields } from './request-token.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const TOKEN_ADDRESS = 'https://oauth2.googleapis.com/token';
const GCLOUD_COMMAND = 'gcloud auth application-default print-access-token';

// The command prints no time; its tokens live for an hour and may be older than this run.
const GCLOUD_TOKEN_MS = 15 * 60_000;
const ASSERTION_SECONDS = 3600;

/**
 * Tokens of Google's application default credentials: by the file that `GOOGLE_APPLICATION_CREDENTIALS` names or `gcloud`
 * has written, else by the metadata server of the machine.
 */
export function googleTokens(env: Environment): TokenSource {
  const path = adcPath(env);
  return { key: JSON.stringify(['google', path]), obtain: () => tokenOf(path, env) };
}

async function tokenOf(path: string, env: Environment): Promise<ExpiringValue<string>> {
  const file = await readFile(path, 'utf8').catch(() => undefined);
  if (file !== undefined) return tokenOfFile(parseFile(file, path), path, env);
  if (readVariable(env, 'GOOGLE_APPLICATION_CREDENTIALS')) throw new Error(`${path} cannot be read`);
  return tokenOfMetadataServer(env);
}

function parseFile(text: string, path: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The message below must not quote the file.
  }
  throw new Error(`${path} holds no JSON object`);
}

function tokenOfFile(file: JsonObject, path: string, env: Environment): Promise<ExpiringValue<string>> {
  switch (file['type']) {
    case 'authorized_user':
      return tokenOfUser(file, path);
    case 'service_account':
      return tokenOfServiceAccount(file, path);
    case 'external_account':
    case 'external_account_authorized_user':
    case 'impersonated_service_account':
      return tokenOfGcloud(env);
    default:
      throw new Error(`${path} has a type of credentials that tau does not support`);
  }
}

function tokenOfUser(file: JsonObject, path: string): Promise<ExpiringValue<string>> {
  return exchange(file, {
    grant_type: 'refresh_token',
    client_id: textIn(file, 'client_id', path),
    client_secret: textIn(file, 'client_secret', path),
    refresh_token: textIn(file, 'refresh_token', path),
  });
}

function tokenOfServiceAccount(file: JsonObject, path: string): Promise<ExpiringValue<string>> {
  const seconds = Math.floor(Date.now() / 1000);
  const keyId = file['private_key_id'];
  const header = { alg: 'RS256', typ: 'JWT', ...(typeof keyId === 'string' ? { kid: keyId } : {}) };
  const claims = {
    iss: textIn(file, 'client_email', path),
    scope: SCOPE,
    aud: addressIn(file),
    iat: seconds,
    exp: seconds + ASSERTION_SECONDS,
  };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = createSign('RSA-SHA256')
    .update(text)
    .sign(textIn(file, 'private_key', path), 'base64url');
  return exchange(file, {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: `${text}.${signature}`,
  });
}

const addressIn = ({ token_uri: address }: JsonObject) =>
  typeof address === 'string' && URL.canParse(address) ? address : TOKEN_ADDRESS;

function textIn(file: JsonObject, name: string, path: string): string {
  const value = file[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new Error(`${path} has no ${name}`);
}

const exchange = async (file: JsonObject, form: Record<string, string>) =>
  tokenIn(await requestTokenFields({ url: addressIn(file), form }));

async function tokenOfMetadataServer(env: Environment): Promise<ExpiringValue<string>> {
  const host = readVariable(env, 'GCE_METADATA_HOST') ?? 'metadata.google.internal';
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`;
  return tokenIn(await requestTokenFields({ url, headers: { 'metadata-flavor': 'Google' } }));
}

function tokenIn({ access_token: value, expires_in: seconds }: Readonly<JsonObject>): ExpiringValue<string> {
  if (typeof value !== 'string' || value === '') throw new Error('Google sent no access token');
  return { value, expiresAt: Date.now() + (Number(seconds) || ASSERTION_SECONDS) * 1000 };
}

const tokenOfGcloud = (env: Environment): Promise<ExpiringValue<string>> =>
  readCredentialCommand(GCLOUD_COMMAND, env, (output) => {
    if (!/^\S{20,}$/.test(output)) throw new Error('No token');
    return { value: output, expiresAt: Date.now() + GCLOUD_TOKEN_MS };
  });
