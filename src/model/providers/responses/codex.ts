import type { ApiAdapter } from '../../endpoint.ts';
import { bearerHeader } from '../api-route.ts';
import { responsesOver } from './adapter.ts';

/** The Responses API of ChatGPT plans, as the Codex command line uses it. */
export const openaiCodexResponses: ApiAdapter = (endpoint) =>
  responsesOver(({ sessionId }) => ({
    endpoint,
    path: '/codex/responses',
    headers: {
      ...bearerHeader(endpoint.apiKey),
      originator: 'tau',
      'openai-beta': 'responses=experimental',
      ...(sessionId === undefined ? {} : { 'session-id': sessionId, 'x-client-request-id': sessionId }),
    },
    adaptBody: codexBody,
  }));

/** The server requires instructions and encrypted reasoning, and sets the limit of the response itself. */
function codexBody(body: object): object {
  const { max_output_tokens: _, ...fields } = body as Record<string, unknown>;
  return {
    ...fields,
    instructions: fields['instructions'] ?? 'You are a helpful assistant.',
    include: ['reasoning.encrypted_content'],
  };
}
