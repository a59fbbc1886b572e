import type { Wire } from '../endpoint.ts';
import { serverEvents } from '../http/server-events.ts';
import { readToEnd } from './read-to-end.ts';
import { responsesBody } from './responses/body.ts';
import { ResponseReader } from './responses/reader.ts';

/** OpenAI's Responses API, and whoever speaks it too. The server keeps nothing: every request holds it all. */
export const openaiResponses: Wire = (endpoint) => (request, draft) => {
  const { apiKey } = endpoint;
  const reader = new ResponseReader(request.model, draft);
  const events = serverEvents({
    endpoint,
    path: '/responses',
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    body: responsesBody(request),
    request,
    isDone: () => reader.isDone,
  });
  return readToEnd(events, reader);
};
