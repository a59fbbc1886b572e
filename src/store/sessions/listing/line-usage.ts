import { parseObject } from '../indexing/line-facts.ts';
import { type ListedLine, TAIL_BYTES } from './file-lines.ts';

/** Tokens and cost of the assistant messages of a session so far. */
export interface UsageTotals {
  readonly tokens: number;
  readonly cost: number;
}

const FIELD = '"usage":{';

// The usage of an assistant message in the order that tau and pi write: after the content, before the stop reason.
const USAGE = new RegExp(
  `${FIELD}"input":(\\d+),"output":(\\d+),"cacheRead":(\\d+),"cacheWrite":(\\d+),[^{}]*` +
    `"cost":\\{[^{}]*"total":([\\d.eE+-]+)\\}[^{}]*\\},"stopReason":"`,
  'y',
);

/** The usage of the assistant message in this line, read from its end if possible; undefined if unreadable. */
export function usageOfMessage(line: ListedLine): UsageTotals | undefined {
  const { bytes, start, end } = line;
  const tail = bytes.toString('latin1', Math.max(start, end - TAIL_BYTES), end);
  // Inside a text every quote is escaped, and tool arguments precede the usage.
  USAGE.lastIndex = Math.max(0, tail.lastIndexOf(FIELD));
  const found = USAGE.exec(tail);
  if (found) return { tokens: sum(found, 1, 5), cost: Number(found[5]) };
  const { message } = parseObject(line.text() ?? '') ?? {};
  return usageIn((message as { usage?: unknown } | undefined)?.usage ?? {});
}

/** The usage of an entry with a `usage` field, such as a compaction. */
export const usageOfEntry = (entry: Record<string, unknown>): UsageTotals | undefined => usageIn(entry['usage'] ?? {});

/** Missing fields count as zero: old assistant messages have no usage. */
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
