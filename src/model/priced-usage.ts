import type { Model, ModelCost, ModelCostTier, Usage } from '../protocol/generated/vocabulary.ts';

/** Token counts of a provider. */
export interface UsageCounts {
  /** Tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** The part of the output that is thinking. */
  readonly reasoning?: number;
  /** The billed cost in US dollars, if the provider reports it. */
  readonly totalCost?: number;
}

const PER_MILLION = 1_000_000;

/** The usage of a response, with its cost at the model's prices; the total is the provider's if it reports one. */
export function pricedUsage({ cost: prices }: Pick<Model, 'cost'>, counts: UsageCounts): Usage {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning, totalCost } = counts;
  const price = pricesFor(prices, input + cacheRead + cacheWrite);
  const cost = {
    input: (price.input * input) / PER_MILLION,
    output: (price.output * output) / PER_MILLION,
    cacheRead: (price.cacheRead * cacheRead) / PER_MILLION,
    cacheWrite: (price.cacheWrite * cacheWrite) / PER_MILLION,
  };
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: input + output + cacheRead + cacheWrite,
    ...(reasoning === undefined ? {} : { reasoning }),
    cost: {
      ...cost,
      total: totalCost ?? cost.input + cost.output + cost.cacheRead + cost.cacheWrite,
      ...(totalCost === undefined ? {} : { totalFromProvider: true }),
    },
  };
}

// The highest tier that the request exceeds prices all of it.
const pricesFor = (cost: ModelCost, inputTokens: number): Omit<ModelCost, 'tiers'> =>
  (cost.tiers ?? [])
    .filter(({ inputTokensAbove }) => inputTokens > inputTokensAbove)
    .reduce<ModelCostTier | undefined>(
      (highest, tier) => (tier.inputTokensAbove > (highest?.inputTokensAbove ?? -1) ? tier : highest),
      undefined,
    ) ?? cost;
