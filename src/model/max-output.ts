import { countCharacters, tokensForCharacters } from './token-estimate.ts';
import type { ModelRequest } from './request.ts';

/** However full the context looks: below this the server may say for itself that nothing fits any more. */
const MIN_OUTPUT_TOKENS = 4096;

/** How many tokens the answer may have. Servers refuse a request that could outgrow the context of the model. */
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
