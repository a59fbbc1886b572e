import { toolCallsOf } from '../agent/tool-calls.ts';
import type { SessionEntry, Usage } from '../protocol/generated/vocabulary.ts';
import { isForeignRole } from '../store/sessions/entry-reader.ts';

/** Counts of a session that only ever grow. */
export interface SessionCounts {
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  cost: number;
}

export function countEntries(entries: Iterable<SessionEntry>): SessionCounts {
  const counts: SessionCounts = {
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    toolResults: 0,
    totalMessages: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: 0,
  };
  for (const entry of entries) addEntry(counts, entry);
  return counts;
}

export function addEntry(counts: SessionCounts, entry: SessionEntry): void {
  if (entry.type === 'usage' || entry.type === 'compaction' || entry.type === 'branch_summary') {
    if (entry.usage) addUsage(counts, entry.usage);
    return;
  }
  if (entry.type !== 'message' || isForeignRole(entry.message.role)) return;
  counts.totalMessages++;
  const { message } = entry;
  if (message.role === 'user') counts.userMessages++;
  else if (message.role === 'toolResult') {
    counts.toolResults++;
    if (typeof message.usage === 'object' && message.usage !== null) addUsage(counts, message.usage);
  } else if (message.role === 'assistant') {
    counts.assistantMessages++;
    counts.toolCalls += toolCallsOf(message).length;
    if (message.usage) addUsage(counts, message.usage);
  }
}

/** Stored usage may lack any field, or hold other values than numbers: those count as zero. */
function addUsage(counts: SessionCounts, { input, output, cacheRead, cacheWrite, cost }: Partial<Usage>): void {
  for (const [name, value] of Object.entries({ input, output, cacheRead, cacheWrite })) {
    counts.tokens[name as keyof Omit<SessionCounts['tokens'], 'total'>] += numeric(value);
    counts.tokens.total += numeric(value);
  }
  counts.cost += numeric(cost?.total);
}

const numeric = (value: unknown): number => (typeof value === 'number' && Number.isFinite(value) ? value : 0);
