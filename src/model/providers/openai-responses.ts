import type { Wire } from '../endpoint.ts';
import { serverEvents } from '../http/server-events.ts';
import { ModelFailure } from '../request.ts';
import { eventData } from './event-data.ts';
import { responsesBody } from './responses/body.ts';
import type { ResponseEvent } from './responses/events.ts';
import { Lineup } from './responses/lineup.ts';
import { ResponseReader } from './responses/reader.ts';

/** OpenAI's Responses API, and whoever speaks it too. The server keeps nothing: every request holds it all. */
export const openaiResponses: Wire = (endpoint) =>
  async function* (request, draft) {
    const { apiKey } = endpoint;
    const events = serverEvents({
      endpoint,
      path: '/responses',
      headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
      body: responsesBody(request),
      signal: request.signal,
    });
    const lineup = new Lineup();
    const reader = new ResponseReader(request.model, draft);
    for await (const { data } of events) {
      for (const event of lineup.next(eventData<ResponseEvent>(data))) yield* reader.read(event);
      if (reader.isDone) return;
    }
    throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
  };
