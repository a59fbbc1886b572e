import type { ApiAdapter } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import { googleBody } from './body.ts';
import { GoogleStreamDecoder } from './stream-decoder.ts';
import { decodeToEnd } from '../stream-decoder.ts';

/** The Gemini API of Google. */
export const googleGenerativeAi: ApiAdapter = (endpoint) => (request, draft) => {
  const { apiKey } = endpoint;
  const decoder = new GoogleStreamDecoder(request, draft);
  const events = streamEvents({
    endpoint,
    path: `/models/${request.model.id}:streamGenerateContent?alt=sse`,
    headers: apiKey === undefined ? {} : { 'x-goog-api-key': apiKey },
    body: googleBody(request),
    request,
    isDone: () => decoder.isDone,
  });
  return decodeToEnd(events, decoder);
};
