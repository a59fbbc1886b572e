import type { Wire } from '../endpoint.ts';
import { serverEvents } from '../http/server-events.ts';
import { ModelFailure } from '../request.ts';
import { eventData } from './event-data.ts';
import { googleBody } from './google/body.ts';
import type { Chunk } from './google/chunk.ts';
import { ChunkReader } from './google/reader.ts';

/** Google's Gemini API. It has no last event: an answer is whole when it has a reason to stop. */
export const googleGenerativeAi: Wire = (endpoint) =>
  async function* (request, draft) {
    const { apiKey } = endpoint;
    const events = serverEvents({
      endpoint,
      path: `/models/${request.model.id}:streamGenerateContent?alt=sse`,
      headers: apiKey === undefined ? {} : { 'x-goog-api-key': apiKey },
      body: googleBody(request),
      signal: request.signal,
    });
    const reader = new ChunkReader(request, draft);
    for await (const { data } of events) yield* reader.read(eventData<Chunk>(data));
    if (!reader.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
  };
