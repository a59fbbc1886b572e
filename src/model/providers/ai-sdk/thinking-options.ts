import type { ThinkingLevel } from '../../../protocol/generated/vocabulary.ts';
import type { ModelRequest } from '../../request.ts';
import { effortName, levelName, nearestLevel } from '../../thinking-levels.ts';
import { isAdaptive, thinkingBudget } from '../anthropic/thinking.ts';
import { thinkingConfig } from '../google/thinking.ts';

type ProviderFields = Record<string, object>;

/**
 * The thinking level as provider options of a package, for the versions of the AI SDK without an option of their own
 * for it. Is empty for a package that tau does not know.
 */
export function thinkingOptions(request: ModelRequest, packageName: string): ProviderFields {
  const { model } = request;
  if (!model.reasoning) return {};
  const level = nearestLevel(model, request.thinkingLevel);
  const encode = encoders.find(([name]) => name.test(packageName))?.[1];
  return encode?.(request, level) ?? {};
}

type Encoder = (request: ModelRequest, level: ThinkingLevel) => ProviderFields | undefined;

const anthropicOptions: Encoder = (request, level) => {
  if (level === 'off') return undefined;
  const { model } = request;
  if (isAdaptive(model)) return { anthropic: { thinking: { type: 'adaptive' }, effort: effortName(model, level) } };
  return { anthropic: { thinking: { type: 'enabled', budgetTokens: thinkingBudget(request, level) } } };
};

const bedrockOptions: Encoder = (request, level) => {
  if (level === 'off') return undefined;
  const { model } = request;
  if (!/claude/.test(model.id))
    return { bedrock: { reasoningConfig: { maxReasoningEffort: effortName(model, level) } } };
  const reasoningConfig = isAdaptive(model)
    ? { type: 'adaptive', maxReasoningEffort: effortName(model, level), display: 'summarized' }
    : { type: 'enabled', budgetTokens: thinkingBudget(request, level) };
  return { bedrock: { reasoningConfig } };
};

const openaiOptions: Encoder = ({ model }, level) => {
  const reasoningEffort = levelName(model, level) ?? (level === 'off' ? undefined : level);
  if (reasoningEffort === undefined) return undefined;
  return { openai: { reasoningEffort, ...(level === 'off' ? {} : { reasoningSummary: 'auto' }) } };
};

const googleOptions: Encoder = (request, level) => {
  const { thinkingLevel, ...config } = thinkingConfig({ ...request, thinkingLevel: level }) ?? {};
  return {
    google: { thinkingConfig: { ...config, ...(thinkingLevel && { thinkingLevel: thinkingLevel.toLowerCase() }) } },
  };
};

const mistralOptions: Encoder = (_request, level) => ({
  mistral: { reasoningEffort: level === 'off' ? 'none' : 'high' },
});

const compatibleOptions: Encoder = ({ model }, level) => {
  const reasoningEffort = levelName(model, level) ?? (level === 'off' ? undefined : level);
  return reasoningEffort === undefined ? undefined : { openaiCompatible: { reasoningEffort } };
};

// Claude's own API has packages inside those of the clouds.
const encoders: readonly (readonly [RegExp, Encoder])[] = [
  [/\/anthropic$/, anthropicOptions],
  [/\/amazon-bedrock$/, bedrockOptions],
  [/\/(?:azure|openai)$/, openaiOptions],
  [/\/google(?:-vertex)?$/, googleOptions],
  [/\/mistral$/, mistralOptions],
  [/\/openai-compatible$/, compatibleOptions],
];
