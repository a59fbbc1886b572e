import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import type { ModelRequest } from '../../request.ts';
import { decodeToEnd } from '../stream-decoder.ts';
import { responsesBody } from './body.ts';
import { ResponsesStreamDecoder } from './stream-decoder.ts';

/** The Responses API of ChatGPT plans, as the Codex command line uses it. */
export const openaiCodexResponses: ApiAdapter = (endpoint) => (request, draft) => {
  const { apiKey } = endpoint;
  const { sessionId } = request;
  const decoder = new ResponsesStreamDecoder(request.model, draft);
  const events = streamEvents({
    endpoint,
    path: '/codex/responses',
    headers: {
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      originator: 'tau',
      'openai-beta': 'responses=experimental',
      ...(sessionId === undefined ? {} : { 'session-id': sessionId, 'x-client-request-id': sessionId }),
    },
    body: codexBody(request),
    request,
    isDone: () => decoder.isDone,
  });
  return decodeToEnd(events, decoder);
};

/** The server requires instructions and encrypted reasoning, and sets the limit of the response itself. */
function codexBody(request: ModelRequest): object {
  const { max_output_tokens: _, ...body } = responsesBody({
    ...request,
    systemPrompt: request.systemPrompt || 'You are a helpful assistant.',
  }) as Record<string, unknown>;
  return { ...body, include: ['reasoning.encrypted_content'] };
}
