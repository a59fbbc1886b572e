import { callsOf } from '../agent/answer.ts';
import type { SessionEntry, Usage } from '../protocol/generated/vocabulary.ts';

/** Numbers of a session that only ever grow. */
export interface Tally {
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
  cost: number;
}

export function tallyOf(entries: Iterable<SessionEntry>): Tally {
  const tally: Tally = {
    userMessages: 0,
    assistantMessages: 0,
    toolCalls: 0,
    toolResults: 0,
    totalMessages: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    cost: 0,
  };
  for (const entry of entries) addTo(tally, entry);
  return tally;
}

export function addTo(tally: Tally, entry: SessionEntry): void {
  if (entry.type === 'usage' || entry.type === 'compaction' || entry.type === 'branch_summary') {
    if (entry.usage) spend(tally, entry.usage);
    return;
  }
  if (entry.type !== 'message' || (entry.message.role as string) === 'system') return;
  tally.totalMessages++;
  const { message } = entry;
  if (message.role === 'user') tally.userMessages++;
  else if (message.role === 'toolResult') tally.toolResults++;
  else if (message.role === 'assistant') {
    tally.assistantMessages++;
    tally.toolCalls += callsOf(message).length;
    if (message.usage) spend(tally, message.usage);
  }
}

function spend(tally: Tally, { input, output, cacheRead, cacheWrite, cost }: Usage): void {
  tally.tokens.input += input;
  tally.tokens.output += output;
  tally.tokens.cacheRead += cacheRead;
  tally.tokens.cacheWrite += cacheWrite;
  tally.tokens.total += input + output + cacheRead + cacheWrite;
  tally.cost += cost.total;
}
