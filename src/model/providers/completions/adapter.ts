import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import type { ModelRequest, Provider } from '../../request.ts';
import { affinityHeaders } from '../../request-extras.ts';
import { type ApiRoute, bearerHeader } from '../api-route.ts';
import { requestBody } from './body.ts';
import { type Quirks, quirksOf } from './quirks.ts';
import { CompletionsStreamDecoder, decodeCompletions } from './stream-decoder.ts';

/** The chat completions API of OpenAI and compatible servers, with their quirks. */
export const openaiCompletions: ApiAdapter = (endpoint) =>
  completionsOver((request) => ({
    endpoint,
    path: '/chat/completions',
    headers: { ...bearerHeader(endpoint.apiKey), ...affinityHeaders(request) },
  }));

/** The same API over another route, or with the quirks of a given server. */
export const completionsOver =
  (routeOf: (request: ModelRequest) => ApiRoute, serverQuirks: (model: Model) => Quirks = quirksOf): Provider =>
  (request, draft) => {
    const { adaptBody = (body) => body, ...route } = routeOf(request);
    const quirks = serverQuirks({ ...request.model, baseUrl: route.endpoint.baseUrl });
    const decoder = new CompletionsStreamDecoder(request.model, draft, quirks);
    const events = streamEvents({
      ...route,
      body: adaptBody(requestBody(request, quirks)),
      request,
      isDone: () => decoder.isDone,
    });
    return decodeCompletions(events, decoder);
  };
