import { amount, choice, count, flag, freeform, list, object, optional, text } from './schema.ts';

const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export const ThinkingLevel = choice(thinkingLevels, 'ThinkingLevel', 'How much a model may think before it responds.');

export const ThinkingLevelInput = choice(
  [...thinkingLevels, 'brief'],
  'ThinkingLevelInput',
  'A level as clients may send it; `brief` means `minimal`.',
);

const prices = { input: amount(), output: amount(), cacheRead: amount(), cacheWrite: amount() };

const CostTier = object(
  { inputTokensAbove: amount(), ...prices },
  'ModelCostTier',
  'Prices of a whole request with more input tokens than this.',
);

const Cost = object({ ...prices, tiers: optional(list(CostTier)) }, 'ModelCost', 'US dollars per million tokens.');

/** A model and its thinking levels. */
export const Model = object(
  {
    id: text(),
    name: text(),
    api: text('The API kind of the provider.'),
    provider: text(),
    baseUrl: optional(text('Withheld from remote clients that do not administrate.')),
    reasoning: flag(),
    input: list(choice(['text', 'image'])),
    contextWindow: count(),
    maxTokens: count(),
    cost: Cost,
    headers: optional(freeform('Withheld from remote clients that do not administrate.')),
    thinkingLevelMap: optional(freeform('Levels this model adds, renames or (null) lacks.')),
    compat: optional(freeform('How the server differs from others with the same API.')),
    samplingParams: optional(freeform('Fields for the body of OpenAI-style requests.')),
    samplingParamsByThinkingLevel: optional(freeform('The same for single thinking levels.')),
    inputLimits: optional(freeform()),
    promptCache: optional(freeform('Seconds that the provider keeps a cached prompt.')),
    supportsImages: optional(flag()),
    supportsTools: optional(flag()),
    thinking: optional(flag('The same as `reasoning`.')),
  },
  'Model',
);
