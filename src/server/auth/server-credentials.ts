import type { LoginRecord } from '../../store/tokens/login-store.ts';
import type { TokenRecord } from '../../store/tokens/token-record.ts';
import type { Grant } from './grant.ts';

/** The tokens that tau created, the logins and the codes of login links. */
export interface ServerCredentials {
  /** Oldest first, as all lists of this store. */
  readonly tokens: readonly TokenRecord[];
  readonly logins: readonly LoginRecord[];
  readonly codes: CodeStore;
  /** The name of the cookies, if servers with different ports share the logins. */
  readonly cookieName?: string | undefined;
  /** Calls the listener when tokens or logins have changed. */
  onChange(listener: () => void): void;
  /** Reads changes of tokens that were not noticed yet; returns whether there were any. */
  refreshTokens(): boolean;
  /** Stores a new login and returns the secret for its cookie, which is stored nowhere. */
  addLogin(login: NewLogin): Promise<string>;
  /** Removes the logins with these digests. */
  removeLogins(digests: ReadonlySet<string>): Promise<void>;
  /** Stores when a token was last used, unless it was revoked meanwhile. */
  recordTokenUse(use: TokenUse): Promise<void>;
  /** Follows changes no longer; what is being stored still is. */
  close(): void;
}

/** Codes for login links, each valid once. */
export interface CodeStore {
  issue(grant: Grant): string | Promise<string>;
  /** Returns the grant of a code and invalidates the code. */
  redeem(code: string): Grant | undefined | Promise<Grant | undefined>;
}

/** The fields of a new login. */
export interface NewLogin {
  /** The digest of the token that was used, or `owner`. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A use of a token, in milliseconds since 1970. */
export interface TokenUse {
  readonly id: string;
  readonly at: number;
}
