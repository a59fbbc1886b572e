import type { RequestSigner } from '../http/signed-post.ts';
import type { CredentialCache, ExpiringValue } from './credential-cache.ts';

/** An access token that is obtained when a request needs it. */
export interface TokenSource {
  /** Identifies the account, not the token. */
  readonly key: string;
  readonly obtain: () => Promise<ExpiringValue<string>>;
}

/** Sends a token with each request. One that the server rejects with 401 is obtained anew, once. */
export const bearerSigner = ({ key, obtain }: TokenSource, cache: CredentialCache): RequestSigner => ({
  headersFor: async (_message, signal) => ({ authorization: `Bearer ${await cache.get(key, obtain, signal)}` }),
  isCorrectable: ({ statusCode }) => {
    if (statusCode === 401) cache.drop(key);
    return statusCode === 401;
  },
});
