import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { ModelRequest, ToolSpec } from '../../request.ts';
import { keepsPromptLong, samplingParams } from '../../request-extras.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { encodeInput } from './input.ts';
import { truncatedId } from './signatures.ts';

// The API rejects smaller limits.
const API_MIN_TOKENS = 16;

/** The request body. Equal requests have equal bytes, as prompt caching requires. */
export function responsesBody(request: ModelRequest): object {
  const { model, systemPrompt, sessionId, tools } = request;
  const { compat = {} } = model;
  return {
    model: model.id,
    ...(systemPrompt === '' ? {} : { instructions: systemPrompt }),
    input: encodeInput(request),
    ...(tools.length === 0 ? {} : { tools: tools.map(functionTool) }),
    ...reasoningFields(request),
    ...(compat['supportsMaxOutputTokens'] === false
      ? {}
      : { max_output_tokens: Math.max(API_MIN_TOKENS, maxOutputTokens(request)) }),
    ...(sessionId === undefined ? {} : { prompt_cache_key: truncatedId(sessionId) }),
    ...(keepsPromptLong() ? longRetention(compat) : {}),
    store: false,
    stream: true,
    ...samplingParams(request),
  };
}

function longRetention(compat: NonNullable<Model['compat']>): object {
  if (compat['supportsLongCacheRetention'] === false) return {};
  return compat['supportsExplicitPromptCacheMode'] === true
    ? { prompt_cache_options: { ttl: '30m' } }
    : { prompt_cache_retention: '24h' };
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
