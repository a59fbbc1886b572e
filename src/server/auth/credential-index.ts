import { findBySecret } from './find-by-secret.ts';
import type { Grant } from './grant.ts';

// The grant behind one secret: a token or a login cookie.
export interface CredentialHolder {
  // The SHA-256 of the secret, in hex.
  readonly sha256: string;
  readonly grant: Grant;
  // The origin of the grant: the digest of a token, or `owner`.
  readonly source: string;
  readonly onUse?: () => void;
}

/**
 * Finds holders by secret, digest or grant.
 *
 * An unchanged grant keeps its identity, so that it can be a map key.
 */
export class CredentialIndex {
  #byDigest: ReadonlyMap<string, CredentialHolder> = new Map();
  #byGrant: ReadonlyMap<Grant, CredentialHolder> = new Map();

  findBySecret(secret: string): CredentialHolder | undefined {
    return findBySecret(this.#byDigest.values(), secret);
  }

  findByDigest(sha256: string): CredentialHolder | undefined {
    return this.#byDigest.get(sha256);
  }

  findByGrant(grant: Grant): CredentialHolder | undefined {
    return this.#byGrant.get(grant);
  }

  get grants(): readonly Grant[] {
    return [...this.#byGrant.keys()];
  }

  /**
   * Replaces all holders; of several with one secret the first counts. Returns whether a grant was removed or changed.
   */
  replace(next: readonly CredentialHolder[]): boolean {
    const previous = this.grants;
    const holders = new Map<string, CredentialHolder>();
    for (const holder of next) {
      if (!holders.has(holder.sha256)) holders.set(holder.sha256, this.#withUnchangedGrant(holder));
    }
    this.#byDigest = holders;
    this.#byGrant = new Map([...holders.values()].map((holder) => [holder.grant, holder]));
    return previous.some((grant) => !this.#byGrant.has(grant));
  }

  #withUnchangedGrant(holder: CredentialHolder): CredentialHolder {
    const known = this.#byDigest.get(holder.sha256)?.grant;
    return known && isSameGrant(known, holder.grant) ? { ...holder, grant: known } : holder;
  }
}

const isSameGrant = (one: Grant, other: Grant): boolean => grantKey(one) === grantKey(other);

const grantKey = ({ id, name, scopes, allowedPaths, expiresAt }: Grant) =>
  JSON.stringify([id, name, [...scopes], allowedPaths, expiresAt]);
