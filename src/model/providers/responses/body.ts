import type { ModelRequest, ToolSpec } from '../../request.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { encodeInput } from './input.ts';
import { truncatedId } from './signatures.ts';

// The API rejects smaller limits.
const API_MIN_TOKENS = 16;

/** The request body. Equal requests have equal bytes, as prompt caching requires. */
export function responsesBody(request: ModelRequest): object {
  const { model, systemPrompt, sessionId, tools } = request;
  return {
    model: model.id,
    ...(systemPrompt === '' ? {} : { instructions: systemPrompt }),
    input: encodeInput(request),
    ...(tools.length === 0 ? {} : { tools: tools.map(functionTool) }),
    ...reasoningFields(request),
    max_output_tokens: Math.max(API_MIN_TOKENS, maxOutputTokens(request)),
    ...(sessionId === undefined ? {} : { prompt_cache_key: truncatedId(sessionId) }),
    store: false,
    stream: true,
  };
}

const functionTool = ({ name, description, parameters }: ToolSpec): object => ({
  type: 'function',
  name,
  description,
  parameters,
  strict: false,
});

// Reasoning models may think unasked: their thinking must come in a form that can be replayed.
function reasoningFields({ model, thinkingLevel }: ModelRequest): object {
  if (!model.reasoning) return {};
  const effort = model.thinkingLevelMap?.[thinkingLevel];
  const include = ['reasoning.encrypted_content'];
  if (thinkingLevel === 'off') return { ...(typeof effort === 'string' ? { reasoning: { effort } } : {}), include };
  return { reasoning: { effort: typeof effort === 'string' ? effort : thinkingLevel, summary: 'auto' }, include };
}
