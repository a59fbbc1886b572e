import type { Model, ModelCost } from '../../protocol/generated/vocabulary.ts';
import { isObject } from '../../protocol/json.ts';
import type { CustomModel, CustomProvider, ModelChange } from '../../store/models-file.ts';

const zeroCost: ModelCost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/**
 * Applies the user's changes to the built-in models of a provider and adds the user's own models.
 *
 * Headers and options of the user's file are left out: models are sent to clients, and those may hold secrets.
 */
export function applyCustomisation(
  provider: string,
  builtIn: readonly Model[],
  custom: CustomProvider,
): readonly Model[] {
  const models = new Map(builtIn.map((model) => [model.id, applyOverrides(model, custom)]));
  for (const own of custom.models ?? []) models.set(own.id, toCustomModel(provider, own, custom));
  return [...models.values()];
}

/** The unresolved headers for a model from the user's files, with lower-case names. */
export function customHeaders(custom: CustomProvider, id: string): Record<string, string> {
  const own = custom.models?.findLast((model) => model.id === id) ?? overridesFor(custom, id);
  const headers = [custom.headers, own.headers].flatMap((set) => Object.entries(set ?? {}));
  return Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
}

/** The settings of an AI SDK package; they may contain secrets. */
export function customOptions(custom: CustomProvider, id: string): Record<string, unknown> | undefined {
  const own = custom.models?.findLast((model) => model.id === id) ?? overridesFor(custom, id);
  return merged([custom.compat?.['options'], own.compat?.['options']].filter(isObject));
}

/** Every value of a provider that may refer to a secret. */
export function secretBearingValues({ apiKey, headers, models = [], modelOverrides = {} }: CustomProvider): string[] {
  const sets = [headers, ...models.map((model) => model.headers)];
  sets.push(...Object.values(modelOverrides).map((change) => change.headers));
  return [apiKey ?? [], ...sets.map((set) => Object.values(set ?? {}))].flat();
}

export const withoutTrailingSlash = (url: string): string => url.replace(/\/+$/, '');

function applyOverrides(model: Model, custom: CustomProvider): Model {
  const overrides = overridesFor(custom, model.id);
  const { name = model.name, reasoning = model.reasoning, input = model.input } = overrides;
  const { contextWindow = model.contextWindow, maxTokens = model.maxTokens } = overrides;
  return {
    ...model,
    ...(custom.baseUrl === undefined ? {} : { baseUrl: withoutTrailingSlash(custom.baseUrl) }),
    name,
    contextWindow,
    maxTokens,
    ...abilities(reasoning, input),
    supportsTools: model.supportsTools ?? true,
    cost: mergedCost(model.cost, overrides),
    ...requestFields(overrides),
    ...compatFields(
      [model.compat, custom.compat, overrides.compat],
      [model.thinkingLevelMap, overrides.thinkingLevelMap],
    ),
  };
}

function toCustomModel(provider: string, own: CustomModel, custom: CustomProvider): Model {
  return {
    id: own.id,
    name: own.name ?? own.id,
    api: own.api ?? custom.api ?? '',
    provider,
    baseUrl: withoutTrailingSlash(own.baseUrl ?? custom.baseUrl ?? ''),
    ...abilities(own.reasoning ?? false, own.input ?? ['text']),
    supportsTools: true,
    contextWindow: own.contextWindow ?? 128_000,
    maxTokens: own.maxTokens ?? 16_384,
    cost: mergedCost(zeroCost, own),
    ...requestFields(own),
    ...compatFields([custom.compat, own.compat], [own.thinkingLevelMap]),
  };
}

const overridesFor = ({ modelOverrides = {} }: CustomProvider, id: string): ModelChange =>
  (Object.hasOwn(modelOverrides, id) && modelOverrides[id]) || {};

const abilities = (reasoning: boolean, input: Model['input']) => ({
  reasoning,
  thinking: reasoning,
  input,
  supportsImages: input.includes('image'),
});

const mergedCost = (before: ModelCost, { cost = {} }: ModelChange): ModelCost => ({
  input: cost.input ?? before.input,
  output: cost.output ?? before.output,
  cacheRead: cost.cacheRead ?? before.cacheRead,
  cacheWrite: cost.cacheWrite ?? before.cacheWrite,
  ...(cost.tiers || before.tiers ? { tiers: cost.tiers ?? before.tiers } : {}),
});

const requestFields = ({ samplingParams, samplingParamsByThinkingLevel, inputLimits, promptCache }: ModelChange) => ({
  ...(samplingParams ? { samplingParams } : {}),
  ...(samplingParamsByThinkingLevel ? { samplingParamsByThinkingLevel } : {}),
  ...(isObject(inputLimits) ? { inputLimits } : {}),
  ...(isObject(promptCache) ? { promptCache } : {}),
});

type Values = Record<string, unknown>;
type Sets = readonly (Values | undefined)[];

function compatFields(compats: Sets, levelMaps: Sets): Pick<Model, 'compat' | 'thinkingLevelMap'> {
  const { options: _options, ...compat } = merged(compats) ?? {};
  const thinkingLevelMap = merged(levelMaps);
  return { ...(Object.keys(compat).length > 0 ? { compat } : {}), ...(thinkingLevelMap ? { thinkingLevelMap } : {}) };
}

// Later sets win. Objects are merged, lists are replaced.
function merged(sets: Sets): Values | undefined {
  const given = sets.filter((set) => set !== undefined);
  return given.length === 0 ? undefined : given.reduce(merge);
}

function merge(before: Values, after: Values): Values {
  const both = Object.entries(after).map(([name, value]): [string, unknown] => {
    const old = Object.hasOwn(before, name) ? before[name] : undefined;
    return [name, isObject(old) && isObject(value) ? merge(old, value) : value];
  });
  return { ...before, ...Object.fromEntries(both) };
}
