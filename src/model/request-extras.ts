import { isObject } from '../protocol/json.ts';
import type { ModelRequest } from './request.ts';
import { nearestLevel } from './thinking-levels.ts';

/** The user's fields for the body of an OpenAI-style request: of the model, then of its thinking level. */
export function samplingParams({ model, thinkingLevel }: ModelRequest): Readonly<Record<string, unknown>> {
  const byLevel = model.samplingParamsByThinkingLevel?.[nearestLevel(model, thinkingLevel)];
  return { ...model.samplingParams, ...(isObject(byLevel) ? byLevel : {}) };
}

/** Whether the user requests the longest time that providers keep a cached prompt. */
export const keepsPromptLong = (): boolean => process.env['PI_CACHE_RETENTION'] === 'long';

type AffinityFormat = 'openai' | 'openai-nosession' | 'openrouter';

/** Headers by which gateways send the requests of a session to the same server, if `compat` asks for them. */
export function affinityHeaders({ model: { compat = {} }, sessionId }: ModelRequest): Record<string, string> {
  if (compat['sendSessionAffinityHeaders'] !== true || sessionId === undefined) return {};
  const format = (compat['sessionAffinityFormat'] ?? 'openai') as AffinityFormat;
  if (format === 'openrouter') return { 'x-session-id': sessionId };
  return {
    ...(format === 'openai' ? { session_id: sessionId } : {}),
    'x-client-request-id': sessionId,
    'x-session-affinity': sessionId,
  };
}
