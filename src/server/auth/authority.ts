import type { Grant } from './grant.ts';

/** Who knows everybody. */
export interface Authority {
  /** What a token grants now; undefined when it is none, has ended or was taken back. */
  grantOf(token: string): Grant | undefined;
  /** What the session cookie in a Cookie header grants now. */
  grantOfCookies(header: string): Grant | undefined;
  /** Whether a grant that came from here still holds, with the same scopes and paths. A copy of one does not. */
  isValid(grant: Grant): boolean;
  /** Called when grants may have ended, changed or been taken back: ask `holds` again. */
  onChange(listener: () => void): void;
}
