import { parseObject } from './indexing/line-facts.ts';
import { TAIL_BYTES, type ListedLine } from './list-lines.ts';

/** What the answers of a session cost so far. */
export interface UsageTotals {
  readonly tokens: number;
  readonly cost: number;
}

const FIELD = '"usage":{';

/** The usage of an answer in the order in which tau and pi write it: behind the content, before the stop reason. */
const USAGE = new RegExp(
  `${FIELD}"input":(\\d+),"output":(\\d+),"cacheRead":(\\d+),"cacheWrite":(\\d+),[^{}]*` +
    `"cost":\\{[^{}]*"total":([\\d.eE+-]+)\\}[^{}]*\\},"stopReason":"`,
  'y',
);

/** What the answer in this line cost, read from the end of the line if possible; undefined when nobody can tell. */
export function usageOfMessage(line: ListedLine): UsageTotals | undefined {
  const { bytes, start, end } = line;
  const tail = bytes.toString('latin1', Math.max(start, end - TAIL_BYTES), end);
  // Inside a text every quote is escaped, and what a tool was called with stands before the usage.
  USAGE.lastIndex = Math.max(0, tail.lastIndexOf(FIELD));
  const found = USAGE.exec(tail);
  if (found) return { tokens: sum(found, 1, 5), cost: Number(found[5]) };
  const { message } = parseObject(line.text() ?? '') ?? {};
  return usageIn((message as { usage?: unknown } | undefined)?.usage ?? {});
}

/** What an entry that has its usage beside it cost, such as a compaction. */
export const usageOfEntry = (entry: Record<string, unknown>): UsageTotals | undefined => usageIn(entry['usage'] ?? {});

/** An empty object cost nothing: old answers say nothing of it. */
function usageIn(usage: unknown): UsageTotals | undefined {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost } = usage as Record<string, unknown>;
  const { total = 0 } = (cost ?? {}) as { total?: unknown };
  const counts = [input, output, cacheRead, cacheWrite];
  if (typeof total !== 'number' || !counts.every((count) => typeof count === 'number')) return undefined;
  return { tokens: sum(counts, 0, 4), cost: total };
}

function sum(numbers: ArrayLike<string | number>, from: number, to: number): number {
  let total = 0;
  for (let at = from; at < to; at++) total += Number(numbers[at]);
  return total;
}
