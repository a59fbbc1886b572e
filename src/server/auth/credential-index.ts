import { timingSafeEqual } from 'node:crypto';
import type { LoginRecord } from '../../store/tokens/login-store.ts';
import { digestOf, type TokenRecord } from '../../store/tokens/token-record.ts';
import { type Grant, owner, scopes } from './grant.ts';

/** The grant behind one secret: a token or a login cookie. */
export interface CredentialHolder {
  // The SHA-256 of the secret, in hex.
  readonly sha256: string;
  readonly grant: Grant;
  /** The origin of the grant: the digest of a token, or `owner`. */
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

const grantKey = ({ id, name, scopes, allowedPaths, limit, expiresAt }: Grant) =>
  JSON.stringify([id, name, [...scopes], allowedPaths, limit, expiresAt]);

/** The holder of a token from a token file. */
export const tokenHolder = (record: TokenRecord, onUse?: () => void): CredentialHolder => ({
  sha256: record.sha256,
  source: record.sha256,
  grant: {
    id: record.id,
    name: record.name,
    scopes: new Set(record.scopes),
    allowedPaths: record.allowedPaths,
    limit: record.limit,
    expiresAt: record.expiresAt === undefined ? undefined : Date.parse(record.expiresAt),
  },
  ...(onUse ? { onUse } : {}),
});

/** The holder of the token from the environment, with the rights of the owner. */
export function envHolder(token: string): CredentialHolder {
  const sha256 = digestOf(token);
  const grant: Grant = { ...owner, id: 'env', name: 'PI_AUTH_TOKEN', scopes: new Set(scopes) };
  return { sha256, source: sha256, grant };
}

/** The holder of a login. It has the current rights of its source and expires with it. */
export function loginHolder(
  { id, sha256, source, expiresAt }: LoginRecord,
  tokens: CredentialIndex,
): CredentialHolder | undefined {
  const sourceGrant = source === owner.id ? owner : tokens.findByDigest(source)?.grant;
  if (!sourceGrant) return undefined;
  const earliestEnd = Math.min(expiresAt, sourceGrant.expiresAt ?? Number.POSITIVE_INFINITY);
  return { sha256, source, grant: { ...sourceGrant, id: `${sourceGrant.id}/${id}`, expiresAt: earliestEnd } };
}

/** Finds the first candidate with this secret, in time that does not depend on which one it is. */
export function findBySecret<T extends { readonly sha256: string }>(items: Iterable<T>, secret: string): T | undefined {
  const digest = Buffer.from(digestOf(secret));
  let found: T | undefined;
  for (const item of items) {
    if (timingSafeEqual(Buffer.from(item.sha256), digest)) found ??= item;
  }
  return found;
}
