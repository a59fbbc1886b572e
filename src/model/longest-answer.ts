import { charactersIn, tokensIn } from './estimate.ts';
import type { ModelRequest } from './request.ts';

/** However full the context looks: below this the server may say for itself that nothing fits any more. */
const SHORTEST = 4096;

/** How many tokens the answer may have. Servers refuse a request that could outgrow the context of the model. */
export function longestAnswer(request: ModelRequest): number {
  const { model, maxTokens = model.maxTokens } = request;
  const wanted = Math.min(maxTokens, model.maxTokens);
  if (model.contextWindow === 0) return wanted;
  const left = model.contextWindow - tokensIn(lengthOf(request));
  return Math.min(wanted, Math.max(left, SHORTEST));
}

function lengthOf({ systemPrompt, messages, tools }: ModelRequest): number {
  const said = messages.reduce((sum, { content }) => sum + charactersIn(content), 0);
  return systemPrompt.length + said + JSON.stringify(tools).length;
}
