import { callsOf, isBroken } from '../agent/answer.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import { missingResult } from './model-messages.ts';

/** Gives the tool calls at the end of the log that have no result an error result; answers which they were. */
export function repairToolCalls(log: SessionLog): string[] {
  // What somebody went back to was not cut off there.
  if (!log.isAtEnd) return [];
  const answered = new Set<string>();
  for (const node of log.nodesOfKind('message')) {
    if (node.role !== 'toolResult' && node.role !== 'assistant') return [];
    const entry = log.entry(node.id);
    if (entry?.type !== 'message') return [];
    const { message } = entry;
    if (message.role === 'toolResult') answered.add(message.toolCallId);
    if (message.role !== 'assistant') continue;
    if (isBroken(message)) return [];
    const lost = callsOf(message).filter((call) => !answered.has(call.id));
    for (const call of lost) log.append({ type: 'message', message: missingResult(call, Date.now()) });
    return lost.map((call) => call.id);
  }
  return [];
}
