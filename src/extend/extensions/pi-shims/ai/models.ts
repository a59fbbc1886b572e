import { catalogue } from '../../../../model/registry/catalogue.ts';
import { isOverflow } from '../../../../model/classify-failure.ts';
import { pricedUsage } from '../../../../model/priced-usage.ts';
import { providerKeys } from '../../../../model/keys/provider-keys.ts';
import { supportedLevels, nearestLevel } from '../../../../model/thinking-levels.ts';
import type { AssistantMessage, Model, Usage } from '../../../../protocol/generated/vocabulary.ts';

/** pi-ai's model functions over tau's catalogue. */
export const getProviders = (): string[] => [...catalogue.providers()];
export const getModels = (provider: string): Model[] => [...catalogue.models(provider)];
export const getModel = (provider: string, id: string): Model | undefined =>
  catalogue.models(provider).find((model) => model.id === id);

export const getSupportedThinkingLevels = supportedLevels;
export const clampThinkingLevel = nearestLevel;
export const supportsXhigh = (model: Model): boolean => supportedLevels(model).includes('xhigh');
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
  usage.cost = pricedUsage(model, { input, output, cacheRead, cacheWrite }).cost;
  return usage.cost;
}

/** Whether an answer failed, or is silently short, because the conversation is too long for the model. */
export function isContextOverflow({ stopReason, errorMessage, usage }: AssistantMessage, contextWindow = 0): boolean {
  if (stopReason === 'error') return isOverflow(errorMessage ?? '');
  return contextWindow > 0 && usage.input + usage.cacheRead > contextWindow;
}
