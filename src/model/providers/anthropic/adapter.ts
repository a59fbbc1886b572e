import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import type { ModelRequest, Provider } from '../../request.ts';
import type { ApiRoute } from '../api-route.ts';
import { decodeToEnd } from '../stream-decoder.ts';
import { type AnthropicBody, anthropicBody, headersFor } from './body.ts';
import { AnthropicStreamDecoder } from './stream-decoder.ts';

/** The Messages API of Anthropic and compatible servers. */
export const anthropicMessages: ApiAdapter = (endpoint) =>
  anthropicOver((_request, body) => ({
    endpoint,
    path: endpoint.baseUrl.endsWith('/v1') ? '/messages' : '/v1/messages',
    headers: headersFor(endpoint.apiKey, body),
  }));

/** The same API over another route. */
export const anthropicOver =
  (routeOf: (request: ModelRequest, body: AnthropicBody) => ApiRoute): Provider =>
  (request, draft) => {
    const body = anthropicBody(request);
    const { adaptBody = (own) => own, ...route } = routeOf(request, body);
    const decoder = new AnthropicStreamDecoder(request.model, draft);
    const events = streamEvents({ ...route, body: adaptBody(body), request, isDone: () => decoder.isDone });
    return decodeToEnd(events, decoder);
  };
