import { asNumber, asObject } from './untyped.ts';

/** Token counts and cost of a message. */
export interface MessageUsage {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly cost: number;
}

export function readUsage(value: unknown): MessageUsage {
  const usage = asObject(value);
  return {
    input: asNumber(usage['input']) + asNumber(usage['cacheWrite']),
    output: asNumber(usage['output']),
    cached: asNumber(usage['cacheRead']),
    cost: asNumber(asObject(usage['cost'])['total']),
  };
}
