import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import { makeServerFolder } from '../../store/agent-dir.ts';
import {
  addLogin,
  type LoginRecord,
  loginStorePath,
  readLogins,
  removeLogins,
} from '../../store/tokens/login-store.ts';
import { isOpenToOthers, readTokenFile } from '../../store/tokens/token-file.ts';
import { digestOf, GUESSABLE, type TokenRecord } from '../../store/tokens/token-record.ts';
import { readTokens, recordTokenUse, tokenStorePath } from '../../store/tokens/token-store.ts';
import { watchFiles } from '../../store/watch-files.ts';
import type { Log } from '../../system/log.ts';
import { type CookieOptions, cookieValues, setCookie } from './cookies.ts';
import { type CredentialHolder, CredentialIndex, envHolder, loginHolder, tokenHolder } from './credential-index.ts';
import { type Grant, owner } from './grant.ts';

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
  readonly agentDir: string;
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
  makeServerFolder(options.agentDir);
  const tokensFile = options.tokensFile === undefined ? undefined : resolve(options.tokensFile);
  if (tokensFile !== undefined && readTokenFile(tokensFile) === undefined) {
    throw new Error(`${tokensFile}: there is no such file`);
  }
  return new FileAuthority({ ...options, tokensFile });
}

class FileAuthority implements LoginAuthority {
  readonly #agentDir: string;
  readonly #cookies: CookieOptions;
  readonly #log: Log | undefined;
  readonly #storedTokens: LastValid<TokenRecord>;
  readonly #fileTokens: LastValid<TokenRecord>;
  readonly #storedLogins: LastValid<LoginRecord>;
  readonly #envHolders: readonly CredentialHolder[];
  readonly #tokens = new CredentialIndex();
  readonly #logins = new CredentialIndex();
  readonly #useLog: TokenUseLog;
  readonly #listeners: (() => void)[] = [];
  readonly #unwatch: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor({ agentDir, tokensFile, envToken, cookies, log }: AuthorityOptions) {
    this.#agentDir = agentDir;
    this.#cookies = cookies;
    this.#log = log;
    this.#useLog = new TokenUseLog(agentDir, log);
    this.#envHolders = envToken === undefined ? [] : [envHolder(envToken)];
    const [storedPath, loginPath] = [tokenStorePath(agentDir), loginStorePath(agentDir)];
    this.#storedTokens = new LastValid({ path: storedPath, read: () => this.#readStored(), log });
    this.#storedLogins = new LastValid({ path: loginPath, read: () => readLogins(agentDir), log });
    this.#fileTokens = new LastValid({ path: tokensFile, read: () => this.#readFileTokens(tokensFile), log });
    const files = new Map<string, LastValid<unknown>>([
      [storedPath, this.#storedTokens],
      [loginPath, this.#storedLogins],
    ]);
    if (tokensFile !== undefined) files.set(tokensFile, this.#fileTokens);
    // Watches before reading, so that no change in between is missed.
    this.#unwatch = watchFiles([...files.keys()], (path) => {
      files.get(path)?.refresh();
      this.#update();
    });
    for (const file of files.values()) file.refresh();
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
    const value = await addLogin(this.#agentDir, { source, expiresAt });
    this.#reloadLogins();
    return { setCookie: setCookie(this.#cookies, { value, maxAgeMs: expiresAt - now }) };
  }

  async logout(header: string): Promise<{ setCookie: string }> {
    const values = cookieValues(header, this.#cookies).filter((value) => this.#logins.findBySecret(value));
    if (values.length > 0) {
      await removeLogins(this.#agentDir, new Set(values.map(digestOf)));
      this.#reloadLogins();
    }
    return { setCookie: setCookie(this.#cookies, { value: '', maxAgeMs: 0 }) };
  }

  async close(): Promise<void> {
    this.#unwatch();
    clearTimeout(this.#timer);
    this.#listeners.length = 0;
    await this.#useLog.settled();
  }

  #sourceOf(grant: Grant): string | undefined {
    if (grant === owner) return owner.id;
    return (this.#tokens.findByGrant(grant) ?? this.#logins.findByGrant(grant))?.source;
  }

  #readStored(): readonly TokenRecord[] {
    const { tokens, problems } = readTokens(this.#agentDir);
    for (const problem of problems) this.#log?.write('warn', 'auth', problem);
    return tokens;
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
    const changed = [this.#storedTokens, this.#fileTokens].filter((file) => file.hasChanged());
    if (changed.length === 0) return undefined;
    for (const file of changed) file.refresh();
    this.#update();
    return this.#tokens.findBySecret(token);
  }

  #reloadLogins(): void {
    this.#storedLogins.refresh();
    this.#update();
  }

  #update(): void {
    const stored = this.#storedTokens.value.map((record) =>
      tokenHolder(record, () => this.#useLog.record(record.id, record.lastUsedAt)),
    );
    const fromFile = this.#fileTokens.value.map((record) => tokenHolder(record));
    const areTokensRevoked = this.#tokens.replace([...stored, ...fromFile, ...this.#envHolders]);
    const logins = this.#storedLogins.value.map((record) => loginHolder(record, this.#tokens));
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

interface FileSource<T> {
  readonly path: string | undefined;
  readonly read: () => readonly T[];
  readonly log: Log | undefined;
}

/** The last valid content of a file. A refresh that fails keeps the previous value and logs the problem. */
class LastValid<T> {
  value: readonly T[] = [];
  readonly #path: string | undefined;
  readonly #read: () => readonly T[];
  readonly #log: Log | undefined;
  #version = '';

  constructor({ path, read, log }: FileSource<T>) {
    this.#path = path;
    this.#read = read;
    this.#log = log;
  }

  /** Whether the file differs from the one that was read last. */
  hasChanged(): boolean {
    return this.#path !== undefined && versionOf(this.#path) !== this.#version;
  }

  refresh(): void {
    // Before reading: a change in between is noticed the next time.
    this.#version = this.#path === undefined ? '' : versionOf(this.#path);
    try {
      this.value = this.#read();
    } catch (error) {
      this.#log?.write('warn', 'auth', messageOf(error));
    }
  }
}

/** Identifies the content of a file without reading it; a file that cannot be reached has the version of its error. */
function versionOf(path: string): string {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}` : '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreachable';
  }
}

// The use of a busy token is recorded this often.
const USE_SPACING_MS = 60_000;

/** Records when tokens were last used. A failure to record is logged and rejects no token. */
class TokenUseLog {
  readonly #agentDir: string;
  readonly #log: Log | undefined;
  readonly #recordedAt = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  constructor(agentDir: string, log: Log | undefined) {
    this.#agentDir = agentDir;
    this.#log = log;
  }

  record(id: string, lastUsedAt: string | undefined): void {
    const at = Date.now();
    const previous = Math.max(this.#recordedAt.get(id) ?? 0, Date.parse(lastUsedAt ?? '') || 0);
    if (at - previous < USE_SPACING_MS) return;
    this.#recordedAt.set(id, at);
    this.#writing = this.#writing
      .then(() => recordTokenUse(this.#agentDir, { id, at }))
      .catch((error: unknown) => this.#log?.write('warn', 'auth', `A use was not written down: ${messageOf(error)}`));
  }

  settled(): Promise<void> {
    return this.#writing;
  }
}
