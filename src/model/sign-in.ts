import { renewSignIn, type OAuthCredential } from '../store/credentials.ts';
import type { SignIn } from './provider-config.ts';

/** How long a sign-in may take to be renewed. Other processes wait for the file somewhat longer. */
const RENEW_LIMIT_MS = 9000;

export interface StoredSignIn {
  readonly agentDir: string;
  readonly provider: string;
  readonly credential: OAuthCredential;
  readonly signIn: SignIn;
  readonly limitMs?: number;
}

/**
 * The key that a stored sign-in stands for; one that has expired is renewed first, and stored. Nobody can call that off:
 * what was exchanged and is not stored is lost.
 */
export async function keyOfSignIn({ agentDir, provider, credential, signIn, limitMs }: StoredSignIn): Promise<string> {
  const current =
    credential.expires > Date.now()
      ? credential
      : await renewSignIn(agentDir, provider, (expired) => renewed(expired, signIn, limitMs ?? RENEW_LIMIT_MS));
  const key: unknown = signIn.getApiKey(current);
  if (typeof key !== 'string' || key === '') throw new Error('getApiKey did not answer a key');
  return key;
}

function renewed(expired: OAuthCredential, signIn: SignIn, limitMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const limit = new AbortController();
    const timer = setTimeout(() => {
      reject(new Error(`refreshToken did not answer within ${limitMs} ms`));
      limit.abort();
    }, limitMs);
    const work = (async () => signIn.refreshToken(expired, limit.signal))();
    void work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
