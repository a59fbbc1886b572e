import { amount, choice, count, flag, freeform, list, object, optional, text } from './schema.ts';

const thinkingLevels = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

export const ThinkingLevel = choice(thinkingLevels, 'ThinkingLevel', 'How much a model may think before it responds.');

export const ThinkingLevelInput = choice(
  [...thinkingLevels, 'brief'],
  'ThinkingLevelInput',
  'A level as clients may send it; `brief` means `minimal`.',
);

const Cost = object(
  { input: amount(), output: amount(), cacheRead: amount(), cacheWrite: amount() },
  'ModelCost',
  'US dollars per million tokens.',
);

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
    supportsImages: optional(flag()),
    supportsTools: optional(flag()),
    thinking: optional(flag('The same as `reasoning`.')),
  },
  'Model',
);
