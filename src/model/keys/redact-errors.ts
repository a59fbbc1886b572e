import type { Endpoint } from '../endpoint.ts';
import { ModelFailure, type Provider } from '../request.ts';
import { redact } from './redact.ts';

/** Wraps a provider so that its failures contain no keys: servers quote the keys that they reject. */
export function withRedactedErrors(provider: Provider, { apiKey, headers }: Endpoint): Provider {
  const secrets = [apiKey ?? '', ...Object.values(headers)];
  const rethrowRedacted = (error: unknown): never => {
    throw error instanceof ModelFailure ? redactFailure(error, secrets) : error;
  };
  return (request, draft) => {
    const steps = provider(request, draft)[Symbol.asyncIterator]();
    return {
      [Symbol.asyncIterator]: () => ({
        next: () => steps.next().catch(rethrowRedacted),
        return: async (value) => (await steps.return?.(value)) ?? { done: true, value },
      }),
    };
  };
}

/** The failure without these secrets in its message. */
export function redactFailure(failure: ModelFailure, secrets: readonly string[]): ModelFailure {
  const message = redact(failure.message, secrets);
  if (message === failure.message) return failure;
  const { code, status, retryAfterMs } = failure;
  return new ModelFailure(code, message, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
