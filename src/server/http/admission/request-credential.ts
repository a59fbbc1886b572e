import type { IncomingMessage } from 'node:http';

/** The credential of a request: a token, or a Cookie header that may hold a login. */
export type RequestCredential =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'cookies'; readonly header: string };

/** Whether the request stays HTTP or becomes a socket. */
export type Purpose = 'request' | 'upgrade';

/**
 * Reads the credential of a request. Only an upgrade may carry its token in the query, because browsers allow no header
 * there.
 */
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
 * Whether to trust the cookies of a request, which browsers also send for other sites. They are trusted with an own
 * origin; without any sign of the site only for reading. Foreign origins were rejected before.
 */
export function cookieTrust({ method, headers }: IncomingMessage, purpose: Purpose): 'trusted' | 'ignored' | 'refused' {
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || site === 'same-origin') return 'trusted';
  if (purpose === 'upgrade' || (method !== 'GET' && method !== 'HEAD')) return 'refused';
  return site === undefined || site === 'none' ? 'trusted' : 'ignored';
}
