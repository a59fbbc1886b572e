import type { Wire } from '../endpoint.ts';
import { serverEvents } from '../http/server-events.ts';
import { ModelFailure } from '../request.ts';
import { bodyOf } from './anthropic/body.ts';
import { parseEvent } from './anthropic/event.ts';
import { headersFor } from './anthropic/headers.ts';
import { Listener } from './anthropic/listener.ts';

/** Speaks the Messages API of Anthropic, and of the many servers that imitate it. */
export const anthropicMessages: Wire = (endpoint) =>
  async function* (request, draft) {
    const body = bodyOf(request);
    const listener = new Listener(request.model, draft);
    const path = endpoint.baseUrl.endsWith('/v1') ? '/messages' : '/v1/messages';
    const headers = headersFor(endpoint.apiKey, body);
    try {
      // Read to the end of the stream, behind that of the answer: only then the connection serves again.
      for await (const { data } of serverEvents({ endpoint, path, headers, body, signal: request.signal })) {
        if (!listener.isDone) yield* listener.hear(parseEvent(data));
      }
    } catch (error) {
      if (!listener.isDone) throw error;
    }
    if (!listener.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
  };
