import { messageOf } from '../../protocol/errors.ts';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { OAuthCredential } from '../../store/credentials.ts';
import { ModelFailure, type Provider } from '../request.ts';
import type { ProviderAuth } from './provider-auth.ts';

interface RenewalOptions {
  readonly auth: ProviderAuth;
  readonly model: Model;
  /** Makes the provider anew, with the key that is valid then. */
  readonly reopen: () => Promise<Provider>;
}

/** Renews a sign-in that the API rejects and repeats the request once. A second rejection fails with the remedy. */
export function withRenewal(provider: Provider, { auth, model, reopen }: RenewalOptions): Provider {
  const rejected = auth.signInOf(model.provider);
  if (!rejected || !auth.signIns.canRenew(model.provider, rejected)) return provider;
  return async function* (request, draft) {
    try {
      yield* provider(request, draft);
      return;
    } catch (error) {
      if (!isRejection(error)) throw error;
      await renewRejected(rejected);
    }
    try {
      auth.refresh();
      yield* (await reopen())(request, draft);
    } catch (error) {
      throw isRejection(error) ? rejectedAgain(error, model) : error;
    }
  };

  async function renewRejected(credential: OAuthCredential): Promise<void> {
    try {
      await auth.signIns.renewRejected(model.provider, credential);
    } catch (error) {
      throw new ModelFailure('auth_failed', messageOf(error), { status: 401 });
    }
  }
}

const isRejection = (error: unknown): error is ModelFailure => error instanceof ModelFailure && error.status === 401;

const rejectedAgain = ({ message }: ModelFailure, { provider }: Model) =>
  new ModelFailure(
    'auth_failed',
    `${message}. The sign-in was renewed and is rejected again. Run: tau login ${provider}`,
    {
      status: 401,
    },
  );
