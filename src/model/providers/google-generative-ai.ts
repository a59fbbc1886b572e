import type { Wire } from '../endpoint.ts';
import { serverEvents } from '../http/server-events.ts';
import { googleBody } from './google/body.ts';
import { ChunkReader } from './google/reader.ts';
import { readToEnd } from './read-to-end.ts';

/** Google's Gemini API. */
export const googleGenerativeAi: Wire = (endpoint) => (request, draft) => {
  const { apiKey } = endpoint;
  const reader = new ChunkReader(request, draft);
  const events = serverEvents({
    endpoint,
    path: `/models/${request.model.id}:streamGenerateContent?alt=sse`,
    headers: apiKey === undefined ? {} : { 'x-goog-api-key': apiKey },
    body: googleBody(request),
    request,
    isDone: () => reader.isDone,
  });
  return readToEnd(events, reader);
};
