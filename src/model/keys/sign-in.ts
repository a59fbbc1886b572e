import { renewSignIn, type OAuthCredential } from '../../store/credentials.ts';
import type { SignIn } from '../registry/provider-config.ts';

/** How long a sign-in may take to be renewed. Other processes wait for the file somewhat longer. */
const RENEW_TIMEOUT_MS = 9000;

export interface StoredSignIn {
  readonly agentDir: string;
  readonly provider: string;
  readonly credential: OAuthCredential;
  readonly signIn: SignIn;
  readonly timeoutMs?: number;
}

/**
 * The key that a stored sign-in stands for; one that has expired is renewed first, and stored. Nobody can call that off:
 * what was exchanged and is not stored is lost.
 */
export async function apiKeyFromSignIn({ agentDir, provider, credential, signIn, timeoutMs }: StoredSignIn): Promise<string> {
  const current =
    credential.expires > Date.now()
      ? credential
      : await renewSignIn(agentDir, provider, (expired) => refreshWithTimeout(expired, signIn, timeoutMs ?? RENEW_TIMEOUT_MS));
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
