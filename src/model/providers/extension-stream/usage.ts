import type { Model, Usage } from '../../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../../protocol/json.ts';
import { pricedUsage } from '../../priced-usage.ts';

/** The usage that a provider reports; its cost is the reported one or else follows the model's prices. */
export function parseUsage(model: Model, reported: unknown): Usage | undefined {
  if (!isObject(reported)) return undefined;
  const count = countIn(reported);
  const usage = pricedUsage(model, {
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheWrite: count('cacheWrite'),
    ...(reported['reasoning'] === undefined ? {} : { reasoning: count('reasoning') }),
  });
  const cost = isObject(reported['cost']) ? reported['cost'] : {};
  const charged = countIn(cost);
  if (charged('total') === 0) return usage;
  return {
    ...usage,
    cost: {
      input: charged('input'),
      output: charged('output'),
      cacheRead: charged('cacheRead'),
      cacheWrite: charged('cacheWrite'),
      total: charged('total'),
    },
  };
}

const countIn = (values: JsonObject) => (name: string) => {
  const value = values[name];
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
};
