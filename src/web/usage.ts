import { fieldsOf, numberOf } from './fields.ts';

/** What some tokens were and cost. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cost: number;
}

export function usageOf(value: unknown): Usage {
  const usage = fieldsOf(value);
  return {
    input: numberOf(usage['input']) + numberOf(usage['cacheWrite']),
    output: numberOf(usage['output']),
    cached: numberOf(usage['cacheRead']),
    cost: numberOf(fieldsOf(usage['cost'])['total']),
  };
}
