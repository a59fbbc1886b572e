import type { Endpoint, Wire } from '../endpoint.ts';
import { serverEvents } from '../http/server-events.ts';
import { requestBody } from './completions/body.ts';
import { quirksOf } from './completions/quirks.ts';
import { Answer, heard } from './completions/stream.ts';

/** Chat completions: OpenAI's older API, which nearly every other server speaks in a dialect of its own. */
export const openaiCompletions: Wire = (endpoint) => (request, draft) => {
  const quirks = quirksOf({ ...request.model, baseUrl: endpoint.baseUrl });
  const answer = new Answer(request.model, draft);
  const events = serverEvents({
    endpoint,
    path: '/chat/completions',
    headers: authorization(endpoint),
    body: requestBody(request, quirks),
    request,
    isDone: () => answer.isDone,
  });
  return heard(events, answer);
};

const authorization = ({ apiKey }: Endpoint): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
