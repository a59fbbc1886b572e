import type { Grant } from './grant.ts';

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
