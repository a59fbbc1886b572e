import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import { decodeToEnd } from '../stream-decoder.ts';
import { responsesBody } from './body.ts';
import { ResponsesStreamDecoder } from './stream-decoder.ts';

/**
 * The Responses API of OpenAI and compatible servers. The server stores nothing: every request holds the whole
 * conversation.
 */
export const openaiResponses: ApiAdapter = (endpoint) => (request, draft) => {
  const { apiKey } = endpoint;
  const decoder = new ResponsesStreamDecoder(request.model, draft);
  const events = streamEvents({
    endpoint,
    path: '/responses',
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    body: responsesBody(request),
    request,
    isDone: () => decoder.isDone,
  });
  return decodeToEnd(events, decoder);
};
