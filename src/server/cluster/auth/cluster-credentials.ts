import { createHash } from 'node:crypto';
import { check, type Schema } from '../../../protocol/check.ts';
import { isObject } from '../../../protocol/json.ts';
import { newEntryId } from '../../../store/sessions/random-id.ts';
import { type LoginRecord, MAX_LOGINS } from '../../../store/tokens/login-store.ts';
import { digestOf, newSecret, SHA256, type TokenRecord } from '../../../store/tokens/token-record.ts';
import { byAge } from '../../../store/tokens/token-store.ts';
import type { NewLogin, ServerCredentials, TokenUse } from '../../auth/server-credentials.ts';
import type { ClusterConnection } from '../connection.ts';
import { AUTH_BUCKET, bucketStream } from '../names.ts';
import { ClusterCodes } from './cluster-codes.ts';
import { parseStoredToken, RECORD_ID, TOKEN_KEY } from './cluster-tokens.ts';
import { type BucketValue, WatchedBucket } from './watched-bucket.ts';

// The prefix of the keys of logins; the digest of the secret follows.
const LOGIN_KEY = 'login.';

const loginSchema: Schema = {
  type: 'object',
  required: ['id', 'source', 'expiresAt'],
  properties: { id: { type: 'string' }, source: { type: 'string' }, expiresAt: { type: 'number' } },
  additionalProperties: false,
};

/** The tokens, logins and login codes of a cluster, as each of its nodes uses them. */
export class ClusterCredentials implements ServerCredentials {
  tokens: readonly TokenRecord[] = [];
  logins: readonly LoginRecord[] = [];
  readonly codes: ClusterCodes;
  readonly cookieName: string;
  readonly #bucket: WatchedBucket;
  readonly #onProblem: (problem: string) => void;
  /** Each value is parsed once. */
  readonly #parsed = new WeakMap<BucketValue, TokenRecord | LoginRecord | string>();
  #onChange: () => void = () => {};

  private constructor(bucket: WatchedBucket, { cookieName, onProblem }: CredentialsParts) {
    this.#bucket = bucket;
    this.#onProblem = onProblem;
    this.cookieName = cookieName;
    this.codes = new ClusterCodes(bucket);
  }

  /** Opens the bucket and follows its changes. Invalid values grant nothing. */
  static async open(
    cluster: ClusterConnection,
    { onProblem, onError }: CredentialsListeners,
  ): Promise<ClusterCredentials> {
    const { created } = await cluster.manager.streams.info(bucketStream(AUTH_BUCKET));
    let update = () => {};
    const bucket = await WatchedBucket.open(cluster, AUTH_BUCKET, { onChange: () => update(), onError });
    const credentials = new ClusterCredentials(bucket, { cookieName: cookieNameOf(created), onProblem });
    update = () => credentials.#update();
    update();
    // Marks cost space only.
    bucket.purgeMarks().catch(() => {});
    return credentials;
  }

  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Changes of other nodes arrive by themselves. */
  refreshTokens(): boolean {
    return false;
  }

  async addLogin(login: NewLogin): Promise<string> {
    const secret = newSecret();
    const key = `${LOGIN_KEY}${digestOf(secret)}`;
    const id = newEntryId((taken) => this.logins.some((other) => other.id === taken));
    await this.#bucket.put(key, { id, ...login }, 0);
    await this.#bucket.until(() => this.#bucket.get(key) !== undefined);
    // The next login removes the rest.
    await this.#removeOldLogins().catch(() => {});
    return secret;
  }

  async removeLogins(digests: ReadonlySet<string>): Promise<void> {
    const keys = [...digests].map((sha256) => `${LOGIN_KEY}${sha256}`);
    for (const key of keys) await this.#bucket.remove(key);
    await this.#bucket.until(() => keys.every((key) => this.#bucket.get(key) === undefined));
  }

  /** Of nodes that store a use at once one succeeds; none brings back a token that was revoked. */
  async recordTokenUse({ id, at }: TokenUse): Promise<void> {
    const key = `${TOKEN_KEY}${id}`;
    const { value, revision = 0 } = this.#bucket.get(key) ?? {};
    if (isObject(value)) await this.#bucket.put(key, { ...value, lastUsedAt: new Date(at).toISOString() }, revision);
  }

  close(): void {
    this.#bucket.close();
  }

  #update(): void {
    this.tokens = this.#recordsIn(TOKEN_KEY, parseStoredToken).sort(byAge);
    this.logins = this.#recordsIn(LOGIN_KEY, parseLogin);
    this.#onChange();
  }

  #recordsIn<T extends TokenRecord | LoginRecord>(prefix: string, parse: (value: BucketValue) => T | string): T[] {
    return this.#bucket.startingWith(prefix).flatMap((value) => {
      const known = this.#parsed.get(value);
      const record = known === undefined ? parse(value) : (known as T | string);
      if (known === undefined) this.#parsed.set(value, record);
      if (known === undefined && typeof record === 'string') this.#onProblem(`${AUTH_BUCKET}: ${record}`);
      return typeof record === 'string' ? [] : [record];
    });
  }

  /** Removes the logins that have expired, and the oldest beyond the limit. */
  async #removeOldLogins(): Promise<void> {
    const logins = this.#bucket.startingWith(LOGIN_KEY);
    const old = logins.filter((login, index) => !isLive(login) || index < logins.length - MAX_LOGINS);
    for (const { key, revision } of old) await this.#bucket.remove(key, revision);
  }
}

interface CredentialsListeners {
  /** Called with a sentence for each invalid value. */
  readonly onProblem: (problem: string) => void;
  readonly onError: (error: unknown) => void;
}

interface CredentialsParts extends Pick<CredentialsListeners, 'onProblem'> {
  readonly cookieName: string;
}

/** Nodes behind one address have the same cookies, whatever their ports are. */
const cookieNameOf = (created: string) => `tau_${createHash('sha256').update(created).digest('hex').slice(0, 8)}`;

function parseLogin({ key, value, storedAt }: BucketValue): LoginRecord | string {
  const sha256 = key.slice(LOGIN_KEY.length);
  const problem = SHA256.test(sha256) ? check(loginSchema, value, { closed: true }) : 'its key is no digest';
  if (problem !== undefined) return `a login is ignored: ${problem}`;
  const login = value as Pick<LoginRecord, 'id' | 'source' | 'expiresAt'>;
  return RECORD_ID.test(login.id) ? { ...login, sha256, createdAt: storedAt } : 'a login is ignored: its id is none';
}

const isLive = (login: BucketValue): boolean => {
  const record = parseLogin(login);
  return typeof record === 'object' && record.expiresAt > Date.now();
};
