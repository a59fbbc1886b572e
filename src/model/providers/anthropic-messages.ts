import type { Wire } from '../endpoint.ts';
import { serverEvents } from '../http/server-events.ts';
import { bodyOf } from './anthropic/body.ts';
import { headersFor } from './anthropic/headers.ts';
import { Listener } from './anthropic/listener.ts';
import { readToEnd } from './read-to-end.ts';

/** Speaks the Messages API of Anthropic, and of the many servers that imitate it. */
export const anthropicMessages: Wire = (endpoint) => (request, draft) => {
  const body = bodyOf(request);
  const listener = new Listener(request.model, draft);
  const events = serverEvents({
    endpoint,
    path: endpoint.baseUrl.endsWith('/v1') ? '/messages' : '/v1/messages',
    headers: headersFor(endpoint.apiKey, body),
    body,
    request,
    isDone: () => listener.isDone,
  });
  return readToEnd(events, listener);
};
