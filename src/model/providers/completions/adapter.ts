import type { ApiAdapter, Endpoint } from '../../endpoint.ts';
import { streamEvents } from '../../http/event-stream.ts';
import { requestBody } from './body.ts';
import { quirksOf } from './quirks.ts';
import { CompletionsStreamDecoder, decodeCompletions } from './stream-decoder.ts';

/** The chat completions API of OpenAI and compatible servers, with their quirks. */
export const openaiCompletions: ApiAdapter = (endpoint) => (request, draft) => {
  const quirks = quirksOf({ ...request.model, baseUrl: endpoint.baseUrl });
  const decoder = new CompletionsStreamDecoder(request.model, draft);
  const events = streamEvents({
    endpoint,
    path: '/chat/completions',
    headers: authorization(endpoint),
    body: requestBody(request, quirks),
    request,
    isDone: () => decoder.isDone,
  });
  return decodeCompletions(events, decoder);
};

const authorization = ({ apiKey }: Endpoint): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
