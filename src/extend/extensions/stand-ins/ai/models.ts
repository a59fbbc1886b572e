import { catalogue } from '../../../../model/catalogue.ts';
import { isOverflow } from '../../../../model/failure.ts';
import { usageOf } from '../../../../model/price.ts';
import { providerKeys } from '../../../../model/provider-keys.ts';
import { levelsOf, nearestLevel } from '../../../../model/thinking.ts';
import type { AssistantMessage, Model, Usage } from '../../../../protocol/generated/vocabulary.ts';

export const getProviders = (): string[] => [...catalogue.providers()];
export const getModels = (provider: string): Model[] => [...catalogue.models(provider)];
export const getModel = (provider: string, id: string): Model | undefined =>
  catalogue.models(provider).find((model) => model.id === id);

export const getSupportedThinkingLevels = levelsOf;
export const clampThinkingLevel = nearestLevel;
export const supportsXhigh = (model: Model): boolean => levelsOf(model).includes('xhigh');
export const modelsAreEqual = (one?: Model | null, other?: Model | null): boolean =>
  Boolean(one && other) && one?.id === other?.id && one?.provider === other?.provider;

/** The key of a provider that stands in the environment. */
export function getEnvApiKey(provider: string): string | undefined {
  const names = Object.hasOwn(providerKeys, provider) ? (providerKeys[provider] ?? []) : [];
  return names.map((name) => process.env[name]).find(Boolean);
}

/** Writes into the usage what it costs. */
export function calculateCost(model: Model, usage: Usage): Usage['cost'] {
  const { input, output, cacheRead, cacheWrite } = usage;
  usage.cost = usageOf(model, { input, output, cacheRead, cacheWrite }).cost;
  return usage.cost;
}

/** Whether an answer failed, or is silently short, because the conversation is too long for the model. */
export function isContextOverflow({ stopReason, errorMessage, usage }: AssistantMessage, contextWindow = 0): boolean {
  if (stopReason === 'error') return isOverflow(errorMessage ?? '');
  return contextWindow > 0 && usage.input + usage.cacheRead > contextWindow;
}
