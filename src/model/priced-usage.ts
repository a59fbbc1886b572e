import type { Model, Usage } from '../protocol/generated/vocabulary.ts';

/** Tokens as a provider counts them. */
export interface UsageCounts {
  /** Read anew: neither from a cache nor into one. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** How many of the output were thought. */
  readonly reasoning?: number;
}

const PER_MILLION = 1_000_000;

/** What an answer used, with what that costs by the price list of its model. */
export function pricedUsage({ cost: price }: Pick<Model, 'cost'>, counts: UsageCounts): Usage {
  const { input, output, cacheRead = 0, cacheWrite = 0, reasoning } = counts;
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
    cost: { ...cost, total: cost.input + cost.output + cost.cacheRead + cost.cacheWrite },
  };
}
