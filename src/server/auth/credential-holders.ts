import type { LoginRecord } from '../../store/tokens/login-store.ts';
import { digestOf, type TokenRecord } from '../../store/tokens/token-record.ts';
import { type Grant, scopes } from './grant.ts';
import { owner } from './owner.ts';
import type { CredentialHolder, CredentialIndex } from './credential-index.ts';

/** The holder of a token from a token file. */
export const tokenHolder = (record: TokenRecord, onUse?: () => void): CredentialHolder => ({
  sha256: record.sha256,
  source: record.sha256,
  grant: {
    id: record.id,
    name: record.name,
    scopes: new Set(record.scopes),
    allowedPaths: record.allowedPaths,
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
export function loginHolder({ id, sha256, source, expiresAt }: LoginRecord, tokens: CredentialIndex): CredentialHolder | undefined {
  const sourceGrant = source === owner.id ? owner : tokens.findByDigest(source)?.grant;
  if (!sourceGrant) return undefined;
  const earliestEnd = Math.min(expiresAt, sourceGrant.expiresAt ?? Number.POSITIVE_INFINITY);
  return { sha256, source, grant: { ...sourceGrant, id: `${sourceGrant.id}/${id}`, expiresAt: earliestEnd } };
}
