import type { LoginRecord } from '../../store/tokens/login-store.ts';
import { digestOf, type TokenRecord } from '../../store/tokens/token-record.ts';
import { type Grant, scopes } from './grant.ts';
import { owner } from './owner.ts';
import type { Member, Roll } from './roll.ts';

/** Who has a token that is written in a file. */
export const tokenMember = (record: TokenRecord, used?: () => void): Member => ({
  sha256: record.sha256,
  source: record.sha256,
  grant: {
    id: record.id,
    name: record.name,
    scopes: new Set(record.scopes),
    allowedPaths: record.allowedPaths,
    expiresAt: record.expiresAt === undefined ? undefined : Date.parse(record.expiresAt),
  },
  ...(used ? { used } : {}),
});

/** Who has the token of the environment. It belongs to whoever starts the server, and may do what they may. */
export function envMember(token: string): Member {
  const sha256 = digestOf(token);
  const grant: Grant = { ...owner, id: 'env', name: 'PI_AUTH_TOKEN', scopes: new Set(scopes) };
  return { sha256, source: sha256, grant };
}

/** Who is logged in. A login may do what its source may now, and is over when that is. */
export function loginMember({ id, sha256, source, expiresAt }: LoginRecord, tokens: Roll): Member | undefined {
  const of = source === owner.id ? owner : tokens.memberWith(source)?.grant;
  if (!of) return undefined;
  const ends = Math.min(expiresAt, of.expiresAt ?? Number.POSITIVE_INFINITY);
  return { sha256, source, grant: { ...of, id: `${of.id}/${id}`, expiresAt: ends } };
}
