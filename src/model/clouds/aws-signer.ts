import type { RequestSigner } from '../http/signed-post.ts';
import { awsKeySource } from './aws-credentials.ts';
import type { CloudAccess } from './credential-cache.ts';
import { signatureHeaders } from './sigv4.ts';

// AWS rejects signatures that are older or newer by more than five minutes.
const MAX_CLOCK_SKEW_MS = 4 * 60_000;

/** Signs requests for a service of AWS. A wrong clock, and keys that AWS rejects as expired, are corrected once. */
export function awsSigner({ env, cache }: CloudAccess, target: { region: string; service: string }): RequestSigner {
  const { key, obtain } = awsKeySource(env);
  let skewMs = 0;
  return {
    async headersFor({ url, headers, body }, signal) {
      const keys = await cache.get(key, obtain, signal);
      const { 'content-type': contentType = 'application/json' } = headers;
      const date = new Date(Date.now() + skewMs);
      const signed = { 'content-type': contentType };
      return signatureHeaders({ method: 'POST', url: new URL(url), headers: signed, body, keys, date, ...target });
    },
    isCorrectable({ statusCode, headers }) {
      if (statusCode !== 403) return false;
      const offset = Date.parse(headers.date ?? '') - Date.now();
      if (Math.abs(offset) > MAX_CLOCK_SKEW_MS) {
        skewMs = offset;
        return true;
      }
      const isExpired = /ExpiredToken|UnrecognizedClient|InvalidClientTokenId/.test(
        String(headers['x-amzn-errortype']),
      );
      if (isExpired) cache.drop(key);
      return isExpired;
    },
  };
}
