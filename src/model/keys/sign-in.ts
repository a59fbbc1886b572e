import { type OAuthCredential, renewSignIn } from '../../store/credentials.ts';
import type { SignIn } from '../registry/provider-config.ts';

// Other processes wait for the credentials file somewhat longer than this.
const RENEW_TIMEOUT_MS = 9000;

export interface StoredSignIn {
  readonly agentDir: string;
  readonly provider: string;
  readonly credential: OAuthCredential;
  readonly signIn: SignIn;
  readonly timeoutMs?: number;
}

/**
 * The key of a stored sign-in. An expired sign-in is renewed and stored first; this cannot be cancelled, because a
 * renewed token that is not stored is lost.
 */
export async function apiKeyFromSignIn({
  agentDir,
  provider,
  credential,
  signIn,
  timeoutMs,
}: StoredSignIn): Promise<string> {
  const current =
    credential.expires > Date.now()
      ? credential
      : await renewSignIn(agentDir, provider, (expired) =>
          refreshWithTimeout(expired, signIn, timeoutMs ?? RENEW_TIMEOUT_MS),
        );
  const key: unknown = signIn.getApiKey(current);
  if (typeof key !== 'string' || key === '') throw new Error('getApiKey did not answer a key');
  return key;
}

function refreshWithTimeout(expired: OAuthCredential, signIn: SignIn, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const timer = setTimeout(() => {
      reject(new Error(`refreshToken did not answer within ${timeoutMs} ms`));
      controller.abort();
    }, timeoutMs);
    const refresh = (async () => signIn.refreshToken(expired, controller.signal))();
    void refresh.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
