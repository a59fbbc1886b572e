import type { Model, Usage } from '../protocol/generated/vocabulary.ts';

/** Token counts of a provider. */
export interface UsageCounts {
  /** Tokens that were neither read from a cache nor written to one. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** The part of the output that is thinking. */
  readonly reasoning?: number;
}

const PER_MILLION = 1_000_000;

/** The usage of a response, with its cost at the model's prices. */
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
