import { resolve } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import {
  addLogin,
  type LoginRecord,
  loginStorePath,
  readLogins,
  removeLogins,
} from '../../store/tokens/login-store.ts';
import { digestOf, type TokenRecord } from '../../store/tokens/token-record.ts';
import { makeServerFolder } from '../../store/agent-dir.ts';
import { isOpenToOthers, readTokenFile } from '../../store/tokens/token-file.ts';
import { readTokens, tokenStorePath } from '../../store/tokens/token-store.ts';
import { watchFiles } from '../../store/watch-files.ts';
import type { Log } from '../../system/log.ts';
import type { Authority } from './authority.ts';
import { type CookieOptions, cookieValues, setCookie } from './cookies.ts';
import type { Grant } from './grant.ts';
import { LastGood } from './last-good.ts';
import { LastUses } from './last-uses.ts';
import { envMember, loginMember, tokenMember } from './members.ts';
import { owner } from './owner.ts';
import { type Member, Roll } from './roll.ts';

/** How long a browser stays logged in. */
export const LOGIN_LIFE_MS = 30 * 24 * 60 * 60_000;

/** How long a machine may sleep through the end of a grant before anybody notices. */
const MAX_SLEEP_MS = 60_000;

export interface AuthorityOptions {
  readonly agentDir: string;
  /** A file of plain tokens. */
  readonly tokensFile?: string | undefined;
  /** What `takeEnvToken` took. */
  readonly envToken?: string | undefined;
  readonly cookies: CookieOptions;
  readonly log?: Log | undefined;
}

/** An authority that can let browsers in. */
export interface LiveAuthority extends Authority {
  /** Lets a browser in with the rights of a grant. Rejects when that does not hold any more. */
  login(grant: Grant): Promise<{ setCookie: string }>;
  /** Ends the logins of the cookies in this header. */
  logout(header: string): Promise<{ setCookie: string }>;
  close(): Promise<void>;
}

/**
 * Opens everything that tells who may come in. Rejects when the file of plain tokens is not there or makes no sense.
 *
 * Changes of the files count at once. Where one makes no sense, what it said before counts, and the log says so.
 */
export async function openAuthority(options: AuthorityOptions): Promise<LiveAuthority> {
  makeServerFolder(options.agentDir);
  const tokensFile = options.tokensFile === undefined ? undefined : resolve(options.tokensFile);
  if (tokensFile !== undefined && readTokenFile(tokensFile) === undefined) {
    throw new Error(`${tokensFile}: there is no such file`);
  }
  return new FileAuthority({ ...options, tokensFile });
}

class FileAuthority implements LiveAuthority {
  readonly #agentDir: string;
  readonly #cookies: CookieOptions;
  readonly #log: Log | undefined;
  readonly #stored: LastGood<readonly TokenRecord[]>;
  readonly #listed: LastGood<readonly TokenRecord[]>;
  readonly #kept: LastGood<readonly LoginRecord[]>;
  readonly #env: readonly Member[];
  readonly #tokens = new Roll();
  readonly #logins = new Roll();
  readonly #uses: LastUses;
  readonly #listeners: (() => void)[] = [];
  readonly #unwatch: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor({ agentDir, tokensFile, envToken, cookies, log }: AuthorityOptions) {
    this.#agentDir = agentDir;
    this.#cookies = cookies;
    this.#log = log;
    this.#uses = new LastUses(agentDir, log);
    this.#env = envToken === undefined ? [] : [envMember(envToken)];
    this.#stored = new LastGood([], () => this.#readStored(), log);
    this.#kept = new LastGood([], () => readLogins(agentDir), log);
    this.#listed = new LastGood([], () => this.#readListed(tokensFile), log);
    const files = new Map<string, LastGood<unknown>>([
      [tokenStorePath(agentDir), this.#stored],
      [loginStorePath(agentDir), this.#kept],
    ]);
    if (tokensFile !== undefined) files.set(tokensFile, this.#listed);
    // Watched first: nothing that changes while it is read is missed.
    this.#unwatch = watchFiles([...files.keys()], (path) => {
      files.get(path)?.refresh();
      this.#update();
    });
    for (const file of files.values()) file.refresh();
    this.#update();
  }

  grantOf(token: string): Grant | undefined {
    const member = this.#tokens.find(token) ?? this.#findNew(token);
    if (!member || hasEnded(member.grant)) return undefined;
    member.used?.();
    return member.grant;
  }

  grantOfCookies(header: string): Grant | undefined {
    return cookieValues(header, this.#cookies)
      .map((value) => this.#logins.find(value)?.grant)
      .find((grant) => grant && !hasEnded(grant));
  }

  holds(grant: Grant): boolean {
    return this.#sourceOf(grant) !== undefined && !hasEnded(grant);
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async login(grant: Grant): Promise<{ setCookie: string }> {
    const source = this.#sourceOf(grant);
    if (source === undefined || hasEnded(grant))
      throw new Refusal('permission_denied', 'Permission denied: it has ended');
    const now = Date.now();
    const expiresAt = Math.min(now + LOGIN_LIFE_MS, grant.expiresAt ?? Number.POSITIVE_INFINITY);
    const value = await addLogin(this.#agentDir, { source, expiresAt });
    this.#loginsChanged();
    return { setCookie: setCookie(this.#cookies, { value, maxAgeMs: expiresAt - now }) };
  }

  async logout(header: string): Promise<{ setCookie: string }> {
    const values = cookieValues(header, this.#cookies).filter((value) => this.#logins.find(value));
    if (values.length > 0) {
      await removeLogins(this.#agentDir, new Set(values.map(digestOf)));
      this.#loginsChanged();
    }
    return { setCookie: setCookie(this.#cookies, { value: '', maxAgeMs: 0 }) };
  }

  async close(): Promise<void> {
    this.#unwatch();
    clearTimeout(this.#timer);
    this.#listeners.length = 0;
    await this.#uses.settled();
  }

  #sourceOf(grant: Grant): string | undefined {
    if (grant === owner) return owner.id;
    return (this.#tokens.memberOf(grant) ?? this.#logins.memberOf(grant))?.source;
  }

  #readStored(): readonly TokenRecord[] {
    const { tokens, problems } = readTokens(this.#agentDir);
    for (const problem of problems) this.#log?.write('warn', 'auth', problem);
    return tokens;
  }

  #readListed(path: string | undefined): readonly TokenRecord[] {
    if (path === undefined) return [];
    if (isOpenToOthers(path)) this.#log?.write('warn', 'auth', `${path}: other users can read it (chmod 600)`);
    return readTokenFile(path) ?? [];
  }

  /** A token may be used before anybody was told that its file has changed. */
  #findNew(token: string): Member | undefined {
    for (const file of [this.#stored, this.#listed]) file.refresh();
    this.#update();
    return this.#tokens.find(token);
  }

  #loginsChanged(): void {
    this.#kept.refresh();
    this.#update();
  }

  #update(): void {
    const stored = this.#stored.value.map((record) =>
      tokenMember(record, () => this.#uses.note(record.id, record.lastUsedAt)),
    );
    const listed = this.#listed.value.map((record) => tokenMember(record));
    const isTokenGone = this.#tokens.replace([...stored, ...listed, ...this.#env]);
    const logins = this.#kept.value.map((record) => loginMember(record, this.#tokens));
    const isLoginGone = this.#logins.replace(logins.filter((member) => member !== undefined));
    this.#awaitEnd();
    if (isTokenGone || isLoginGone) this.#tell();
  }

  /** Tells when the next grant ends. */
  #awaitEnd(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    const grants = [...this.#tokens.grants, ...this.#logins.grants];
    const next = Math.min(...grants.map(({ expiresAt = 0 }) => expiresAt).filter((end) => end > now));
    if (next === Number.POSITIVE_INFINITY) return;
    const wake = () => {
      this.#awaitEnd();
      if (Date.now() >= next) this.#tell();
    };
    this.#timer = setTimeout(wake, Math.min(next - now, MAX_SLEEP_MS)).unref();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

const hasEnded = ({ expiresAt }: Grant) => expiresAt !== undefined && expiresAt <= Date.now();
