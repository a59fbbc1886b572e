import type { Endpoint } from './endpoint.ts';
import { hideSecrets } from './hide-secrets.ts';
import { ModelFailure, type Provider } from './request.ts';

/** A provider whose failures do not repeat what was sent along: servers quote keys when they refuse them. */
export function concealing(provider: Provider, { apiKey, headers }: Endpoint): Provider {
  const secrets = [apiKey ?? '', ...Object.values(headers)];
  const conceal = (error: unknown): never => {
    throw error instanceof ModelFailure ? concealed(error, secrets) : error;
  };
  return (request, draft) => {
    const steps = provider(request, draft)[Symbol.asyncIterator]();
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => steps.next().catch(conceal),
        return: async (value) => (await steps.return?.(value)) ?? { done: true, value },
      }),
    };
  };
}

function concealed(failure: ModelFailure, secrets: readonly string[]): ModelFailure {
  const message = hideSecrets(failure.message, secrets);
  if (message === failure.message) return failure;
  const { code, status, retryAfterMs } = failure;
  return new ModelFailure(code, message, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
