import { providerKeys } from '../../../../model/keys/provider-keys.ts';
import { pricedUsage } from '../../../../model/priced-usage.ts';
import { catalogue } from '../../../../model/registry/catalogue.ts';
import { nearestLevel, supportedLevels } from '../../../../model/thinking-levels.ts';
import type { Model, Usage } from '../../../../protocol/generated/vocabulary.ts';

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

export function getEnvApiKey(provider: string): string | undefined {
  const names = Object.hasOwn(providerKeys, provider) ? (providerKeys[provider] ?? []) : [];
  return names.map((name) => process.env[name]).find(Boolean);
}

export function calculateCost(model: Model, usage: Usage): Usage['cost'] {
  const { input, output, cacheRead, cacheWrite } = usage;
  usage.cost = pricedUsage(model, { input, output, cacheRead, cacheWrite }).cost;
  return usage.cost;
}

export const hasApi = (model: Model, api: string): boolean => model.api === api;
