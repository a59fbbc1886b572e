import { countCharacters, tokensForCharacters } from './token-estimate.ts';
import type { ModelRequest } from './request.ts';

// Below this, the server itself may report that nothing fits.
const MIN_OUTPUT_TOKENS = 4096;

/** The token limit of a response. Servers reject a request that could exceed the context window. */
export function maxOutputTokens(request: ModelRequest): number {
  const { model, maxTokens = model.maxTokens } = request;
  const limit = Math.min(maxTokens, model.maxTokens);
  if (model.contextWindow === 0) return limit;
  const left = model.contextWindow - tokensForCharacters(requestCharacters(request));
  return Math.min(limit, Math.max(left, MIN_OUTPUT_TOKENS));
}

function requestCharacters({ systemPrompt, messages, tools }: ModelRequest): number {
  const messageCharacters = messages.reduce((sum, { content }) => sum + countCharacters(content), 0);
  return systemPrompt.length + messageCharacters + JSON.stringify(tools).length;
}
