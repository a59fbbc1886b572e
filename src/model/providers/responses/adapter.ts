import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import type { ModelRequest, Provider } from '../../request.ts';
import { type ApiRoute, bearerHeader } from '../api-route.ts';
import { decodeToEnd } from '../stream-decoder.ts';
import { responsesBody } from './body.ts';
import { ResponsesStreamDecoder } from './stream-decoder.ts';

/**
 * The Responses API of OpenAI and compatible servers. The server stores nothing: every request holds the whole
 * conversation.
 */
export const openaiResponses: ApiAdapter = (endpoint) =>
  responsesOver(() => ({ endpoint, path: '/responses', headers: bearerHeader(endpoint.apiKey) }));

/** The same API over another route. */
export const responsesOver =
  (routeOf: (request: ModelRequest) => ApiRoute): Provider =>
  (request, draft) => {
    const { adaptBody = (body) => body, ...route } = routeOf(request);
    const decoder = new ResponsesStreamDecoder(request.model, draft);
    const events = streamEvents({
      ...route,
      body: adaptBody(responsesBody(request)),
      request,
      isDone: () => decoder.isDone,
    });
    return decodeToEnd(events, decoder);
  };

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
