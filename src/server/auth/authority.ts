import { resolve } from 'node:path';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import { isOpenToOthers, readTokenFile } from '../../store/tokens/token-file.ts';
import { digestOf, GUESSABLE, type TokenRecord } from '../../store/tokens/token-record.ts';
import { watchFiles } from '../../store/watch-files.ts';
import type { Log } from '../../system/log.ts';
import { type CookieOptions, cookieValues, setCookie } from './cookies.ts';
import { type CredentialHolder, CredentialIndex, envHolder, loginHolder, tokenHolder } from './credential-index.ts';
import { type Grant, owner } from './grant.ts';
import { LastValid } from './last-valid.ts';
import type { ServerCredentials } from './server-credentials.ts';

/** Maps tokens and cookies to grants. */
export interface Authority {
  /** The current grant of a token; undefined if the token is unknown, expired or revoked. */
  grantOf(token: string): Grant | undefined;
  /** The current grant of the session cookie in a Cookie header. */
  grantOfCookies(header: string): Grant | undefined;
  /** Whether a grant issued here is still in force, with the same scopes and paths. A copied grant is not valid. */
  isValid(grant: Grant): boolean;
  /** Calls the listener when grants may have expired, changed or been revoked: check `isValid` again. */
  onChange(listener: () => void): void;
}

export const LOGIN_LIFE_MS = 30 * 24 * 60 * 60_000;

// A suspended machine notices an expiry at most this late.
const MAX_EXPIRY_TIMER_MS = 60_000;

export interface AuthorityOptions {
  /** The authority closes it. */
  readonly store: ServerCredentials;
  readonly tokensFile?: string | undefined;
  /** The result of `takeEnvToken`. */
  readonly envToken?: string | undefined;
  readonly cookies: CookieOptions;
  readonly log?: Log | undefined;
}

/** An authority that can also log browsers in and out. */
export interface LoginAuthority extends Authority {
  /** Creates a login with the rights of a grant. Rejects if the grant is no longer valid. */
  login(grant: Grant): Promise<{ setCookie: string }>;
  logout(header: string): Promise<{ setCookie: string }>;
  close(): Promise<void>;
}

/**
 * Opens all sources of credentials. Rejects if the file of plain tokens is missing or malformed.
 *
 * File changes take effect at once. A malformed file keeps its previous content and is logged.
 */
export async function openAuthority(options: AuthorityOptions): Promise<LoginAuthority> {
  const tokensFile = options.tokensFile === undefined ? undefined : resolve(options.tokensFile);
  try {
    if (tokensFile !== undefined && readTokenFile(tokensFile) === undefined)
      throw new Error(`${tokensFile}: there is no such file`);
    return new StoreAuthority({ ...options, tokensFile });
  } catch (error) {
    options.store.close();
    throw error;
  }
}

class StoreAuthority implements LoginAuthority {
  readonly #store: ServerCredentials;
  readonly #cookies: CookieOptions;
  readonly #log: Log | undefined;
  readonly #fileTokens: LastValid<TokenRecord>;
  readonly #envHolders: readonly CredentialHolder[];
  readonly #tokens = new CredentialIndex();
  readonly #logins = new CredentialIndex();
  readonly #useLog: TokenUseLog;
  readonly #listeners: (() => void)[] = [];
  readonly #unwatch: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor({ store, tokensFile, envToken, cookies, log }: AuthorityOptions) {
    this.#store = store;
    this.#cookies = cookies;
    this.#log = log;
    this.#useLog = new TokenUseLog(store, log);
    this.#envHolders = envToken === undefined ? [] : [envHolder(envToken)];
    this.#fileTokens = new LastValid({ path: tokensFile, read: () => this.#readFileTokens(tokensFile), log });
    // Watches before reading, so that no change in between is missed.
    this.#unwatch = watchFiles(tokensFile === undefined ? [] : [tokensFile], () => {
      this.#fileTokens.refresh();
      this.#update();
    });
    this.#fileTokens.refresh();
    store.onChange(() => this.#update());
    this.#update();
  }

  grantOf(token: string): Grant | undefined {
    const holder = this.#tokens.findBySecret(token) ?? this.#findAfterReload(token);
    if (!holder || hasExpired(holder.grant)) return undefined;
    holder.onUse?.();
    return holder.grant;
  }

  grantOfCookies(header: string): Grant | undefined {
    return cookieValues(header, this.#cookies)
      .map((value) => this.#logins.findBySecret(value)?.grant)
      .find((grant) => grant && !hasExpired(grant));
  }

  isValid(grant: Grant): boolean {
    return this.#sourceOf(grant) !== undefined && !hasExpired(grant);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async login(grant: Grant): Promise<{ setCookie: string }> {
    const source = this.#sourceOf(grant);
    if (source === undefined || hasExpired(grant))
      throw new Refusal('permission_denied', 'Permission denied: it has ended');
    const now = Date.now();
    const expiresAt = Math.min(now + LOGIN_LIFE_MS, grant.expiresAt ?? Number.POSITIVE_INFINITY);
    const value = await this.#store.addLogin({ source, expiresAt });
    return { setCookie: setCookie(this.#cookies, { value, maxAgeMs: expiresAt - now }) };
  }

  async logout(header: string): Promise<{ setCookie: string }> {
    const values = cookieValues(header, this.#cookies).filter((value) => this.#logins.findBySecret(value));
    if (values.length > 0) await this.#store.removeLogins(new Set(values.map(digestOf)));
    return { setCookie: setCookie(this.#cookies, { value: '', maxAgeMs: 0 }) };
  }

  async close(): Promise<void> {
    this.#unwatch();
    this.#store.close();
    clearTimeout(this.#timer);
    this.#listeners.length = 0;
    await this.#useLog.settled();
  }

  #sourceOf(grant: Grant): string | undefined {
    if (grant === owner) return owner.id;
    return (this.#tokens.findByGrant(grant) ?? this.#logins.findByGrant(grant))?.source;
  }

  #readFileTokens(path: string | undefined): readonly TokenRecord[] {
    if (path === undefined) return [];
    if (isOpenToOthers(path)) this.#log?.write('warn', 'auth', `${path}: other users can read it (chmod 600)`);
    const tokens = readTokenFile(path) ?? [];
    for (const token of tokens.filter((record) => record.isGuessable)) {
      this.#log?.write('warn', 'auth', `${path}: the token ${JSON.stringify(token.name)} ${GUESSABLE}`);
    }
    return tokens;
  }

  /** A token may be used before the change of its file is noticed. Unchanged files are not read: tokens are guessed. */
  #findAfterReload(token: string): CredentialHolder | undefined {
    const changes = [this.#store.refreshTokens(), this.#fileTokens.refreshIfChanged()];
    if (!changes.includes(true)) return undefined;
    this.#update();
    return this.#tokens.findBySecret(token);
  }

  #update(): void {
    const stored = this.#store.tokens.map((record) =>
      tokenHolder(record, () => this.#useLog.record(record.id, record.lastUsedAt)),
    );
    const fromFile = this.#fileTokens.value.map((record) => tokenHolder(record));
    const areTokensRevoked = this.#tokens.replace([...stored, ...fromFile, ...this.#envHolders]);
    const logins = this.#store.logins.map((record) => loginHolder(record, this.#tokens));
    const areLoginsRevoked = this.#logins.replace(logins.filter((holder) => holder !== undefined));
    this.#scheduleExpiry();
    if (areTokensRevoked || areLoginsRevoked) this.#notify();
  }

  /** Notifies listeners when the next grant expires. */
  #scheduleExpiry(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    const grants = [...this.#tokens.grants, ...this.#logins.grants];
    const next = Math.min(...grants.map(({ expiresAt = 0 }) => expiresAt).filter((end) => end > now));
    if (next === Number.POSITIVE_INFINITY) return;
    const onExpiry = () => {
      this.#scheduleExpiry();
      if (Date.now() >= next) this.#notify();
    };
    this.#timer = setTimeout(onExpiry, Math.min(next - now, MAX_EXPIRY_TIMER_MS)).unref();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

const hasExpired = ({ expiresAt }: Grant) => expiresAt !== undefined && expiresAt <= Date.now();

// The use of a busy token is recorded this often.
const USE_SPACING_MS = 60_000;

/** Records when tokens were last used. A failure to record is logged and rejects no token. */
class TokenUseLog {
  readonly #store: ServerCredentials;
  readonly #log: Log | undefined;
  readonly #recordedAt = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor(store: ServerCredentials, log: Log | undefined) {
    this.#store = store;
    this.#log = log;
  }

  record(id: string, lastUsedAt: string | undefined): void {
    const at = Date.now();
    const previous = Math.max(this.#recordedAt.get(id) ?? 0, Date.parse(lastUsedAt ?? '') || 0);
    if (at - previous < USE_SPACING_MS) return;
    this.#recordedAt.set(id, at);
    this.#writing = this.#writing
      .then(() => this.#store.recordTokenUse({ id, at }))
      .catch((error: unknown) => this.#log?.write('warn', 'auth', `A use was not written down: ${messageOf(error)}`));
  }

  settled(): Promise<void> {
    return this.#writing;
  }
}
