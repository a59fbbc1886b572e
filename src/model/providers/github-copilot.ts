import type { ApiAdapter } from '../endpoint.ts';
import type { ModelRequest } from '../request.ts';
import { bearerHeader } from './api-route.ts';

/** Adds the headers by which Copilot counts requests and accepts images; its key is a bearer token for every API. */
export const withCopilotHeaders =
  (adapter: ApiAdapter): ApiAdapter =>
  (endpoint) =>
  (request, draft) => {
    const headers = { ...bearerHeader(endpoint.apiKey), ...copilotHeaders(request), ...endpoint.headers };
    return adapter({ ...endpoint, headers })(request, draft);
  };

/** Only a message of a user counts as a request of the plan; the turns after it are the agent's. */
function copilotHeaders({ messages, initiator }: Pick<ModelRequest, 'messages' | 'initiator'>) {
  const isUser = initiator === undefined && messages.at(-1)?.role === 'user';
  const hasImages = messages.some(
    ({ content }) => Array.isArray(content) && content.some((block) => block.type === 'image'),
  );
  return {
    'openai-intent': 'conversation-edits',
    'x-initiator': isUser ? 'user' : 'agent',
    ...(hasImages ? { 'copilot-vision-request': 'true' } : {}),
  };
}
