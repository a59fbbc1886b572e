import type { LoginRecord } from '../../store/tokens/login-store.ts';
import { digestOf, type TokenRecord } from '../../store/tokens/token-record.ts';
import { type Grant, scopes } from './grant.ts';
import { owner } from './owner.ts';
import type { CredentialHolder, CredentialIndex } from './credential-index.ts';

/** Who has a token that is written in a file. */
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

/** Who has the token of the environment. It belongs to whoever starts the server, and may do what they may. */
export function envHolder(token: string): CredentialHolder {
  const sha256 = digestOf(token);
  const grant: Grant = { ...owner, id: 'env', name: 'PI_AUTH_TOKEN', scopes: new Set(scopes) };
  return { sha256, source: sha256, grant };
}

/** Who is logged in. A login may do what its source may now, and is over when that is. */
export function loginHolder({ id, sha256, source, expiresAt }: LoginRecord, tokens: CredentialIndex): CredentialHolder | undefined {
  const sourceGrant = source === owner.id ? owner : tokens.findByDigest(source)?.grant;
  if (!sourceGrant) return undefined;
  const earliestEnd = Math.min(expiresAt, sourceGrant.expiresAt ?? Number.POSITIVE_INFINITY);
  return { sha256, source, grant: { ...sourceGrant, id: `${sourceGrant.id}/${id}`, expiresAt: earliestEnd } };
}
