import type { Usage } from '../../protocol/generated/vocabulary.ts';

/** The usage of a stored assistant message; counts that are missing or no numbers are zero. */
export function storedUsage(value: unknown): Usage {
  const { totalTokens, ...usage } = fieldsOf(value);
  const cost = fieldsOf(usage['cost']);
  const hasTotal = Number.isFinite(totalTokens);
  if (hasNumbers(usage, COUNTS) && hasNumbers(cost, COSTS) && (hasTotal || totalTokens === undefined)) {
    return value as Usage;
  }
  return {
    ...usage,
    ...numbersOf(usage, COUNTS),
    ...(hasTotal ? { totalTokens } : {}),
    cost: { ...cost, ...numbersOf(cost, COSTS) },
  } as Usage;
}

const COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite'];
const COSTS = [...COUNTS, 'total'];

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const hasNumbers = (fields: Fields, names: readonly string[]) => names.every((name) => Number.isFinite(fields[name]));

const numbersOf = (fields: Fields, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, Number.isFinite(fields[name]) ? fields[name] : 0]));
