import { findBySecret } from './find-by-secret.ts';
import type { Grant } from './grant.ts';

/** Somebody who is known by a secret. */
export interface Member {
  /** The SHA-256 of the secret, in hex. */
  readonly sha256: string;
  readonly grant: Grant;
  /** Whose grant it is in the end: the digest of a token, or `owner`. */
  readonly source: string;
  /** Called when the secret was shown. */
  readonly used?: () => void;
}

/**
 * Everybody who is known by one kind of secret.
 *
 * A grant is the same object for as long as it says the same to the same secret, so that it can be asked for.
 */
export class Roll {
  #bySecret: ReadonlyMap<string, Member> = new Map();
  #byGrant: ReadonlyMap<Grant, Member> = new Map();

  find(secret: string): Member | undefined {
    return findBySecret(this.#bySecret.values(), secret);
  }

  memberWith(sha256: string): Member | undefined {
    return this.#bySecret.get(sha256);
  }

  memberOf(grant: Grant): Member | undefined {
    return this.#byGrant.get(grant);
  }

  get grants(): readonly Grant[] {
    return [...this.#byGrant.keys()];
  }

  /** Takes a new list, of which the first counts for each secret. Answers whether a grant has gone or changed. */
  replace(next: readonly Member[]): boolean {
    const before = this.grants;
    const members = new Map<string, Member>();
    for (const member of next) {
      if (!members.has(member.sha256)) members.set(member.sha256, this.#keepingGrant(member));
    }
    this.#bySecret = members;
    this.#byGrant = new Map([...members.values()].map((member) => [member.grant, member]));
    return before.some((grant) => !this.#byGrant.has(grant));
  }

  #keepingGrant(member: Member): Member {
    const known = this.#bySecret.get(member.sha256)?.grant;
    return known && isSame(known, member.grant) ? { ...member, grant: known } : member;
  }
}

const isSame = (one: Grant, other: Grant): boolean => textOf(one) === textOf(other);

const textOf = ({ id, name, scopes, allowedPaths, expiresAt }: Grant) =>
  JSON.stringify([id, name, [...scopes], allowedPaths, expiresAt]);
