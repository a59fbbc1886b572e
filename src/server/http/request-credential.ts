import type { IncomingMessage } from 'node:http';

/** What somebody shows to be let in: a token, or cookies that may hold one of ours. */
export type RequestCredential =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'cookies'; readonly header: string };

/** What a request wants to become. */
export type Purpose = 'request' | 'upgrade';

/** What a request shows. Only a socket may bring its token in the query: browsers leave it no other place. */
export function credentialOf(
  { headers }: IncomingMessage,
  { purpose, query }: { readonly purpose: Purpose; readonly query: URLSearchParams },
): RequestCredential | undefined {
  const [, bearer] = /^bearer +([^\s]+) *$/i.exec(headers.authorization ?? '') ?? [];
  const token = bearer || (purpose === 'upgrade' && query.get('token'));
  if (token) return { kind: 'token', token };
  return headers.cookie === undefined ? undefined : { kind: 'cookies', header: headers.cookie };
}

/**
 * What cookies are worth. Browsers send them along whoever asks: they count where no other page can have asked, and
 * where only something is read also if nothing says so. Origins that are not ours were refused before.
 */
export function cookieTrust(
  { method, headers }: IncomingMessage,
  purpose: Purpose,
): 'trusted' | 'ignored' | 'refused' {
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || site === 'same-origin') return 'trusted';
  if (purpose === 'upgrade' || (method !== 'GET' && method !== 'HEAD')) return 'refused';
  return site === undefined || site === 'none' ? 'trusted' : 'ignored';
}
