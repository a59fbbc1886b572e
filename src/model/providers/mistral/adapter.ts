import type { ApiAdapter } from '../../endpoint.ts';
import { bearerHeader } from '../api-route.ts';
import { completionsOver } from '../completions/adapter.ts';
import { quirksOf } from '../completions/quirks.ts';

/** The chat API of Mistral: chat completions with quirks of its own, at whatever address. */
export const mistralChat: ApiAdapter = (endpoint) =>
  completionsOver(
    ({ sessionId }) => ({
      endpoint,
      path: endpoint.baseUrl.endsWith('/v1') ? '/chat/completions' : '/v1/chat/completions',
      // Requests of one session reach the same machine, which has cached their prefix.
      headers: { ...bearerHeader(endpoint.apiKey), ...(sessionId === undefined ? {} : { 'x-affinity': sessionId }) },
    }),
    (model) => quirksOf({ ...model, provider: 'mistral' }),
  );
