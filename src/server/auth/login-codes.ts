import { digestOf, newSecret } from '../../store/tokens/token-record.ts';
import { findBySecret } from './credential-index.ts';
import type { Grant } from './grant.ts';

/** Enough time to switch to a browser. */
export const CODE_LIFE_MS = 10 * 60_000;

/** Beyond this, the oldest code is dropped. */
export const MAX_CODES = 100;

interface Code {
  readonly sha256: string;
  readonly grant: Grant;
  readonly until: number;
}

/** Codes for login links, each valid once. */
export class LoginCodes {
  #codes: readonly Code[] = [];

  issue(grant: Grant): string {
    const code = newSecret();
    const until = performance.now() + CODE_LIFE_MS;
    this.#codes = [...this.#live(), { sha256: digestOf(code), grant, until }].slice(-MAX_CODES);
    return code;
  }

  /** Returns the grant of a code and invalidates the code. */
  redeem(code: string): Grant | undefined {
    const found = findBySecret(this.#live(), code);
    this.#codes = this.#live().filter((one) => one !== found);
    return found?.grant;
  }

  #live(): readonly Code[] {
    const now = performance.now();
    return this.#codes.filter(({ until }) => until > now);
  }
}
