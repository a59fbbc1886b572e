import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import { decodeToEnd } from '../stream-decoder.ts';
import { anthropicBody, headersFor } from './body.ts';
import { AnthropicStreamDecoder } from './stream-decoder.ts';

/** The Messages API of Anthropic and compatible servers. */
export const anthropicMessages: ApiAdapter = (endpoint) => (request, draft) => {
  const body = anthropicBody(request);
  const decoder = new AnthropicStreamDecoder(request.model, draft);
  const events = streamEvents({
    endpoint,
    path: endpoint.baseUrl.endsWith('/v1') ? '/messages' : '/v1/messages',
    headers: headersFor(endpoint.apiKey, body),
    body,
    request,
    isDone: () => decoder.isDone,
  });
  return decodeToEnd(events, decoder);
};
