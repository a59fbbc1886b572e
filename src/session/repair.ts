import { isFailedOrAborted, toolCallsOf } from '../agent/tool-calls.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import { missingResult } from './context/model-messages.ts';

/** Adds an error result to each tool call at the end of the log that has none; returns their ids. */
export function repairToolCalls(log: SessionLog): string[] {
  // After a navigation the calls at the leaf were not interrupted.
  if (!log.isAtEnd) return [];
  const answered = new Set<string>();
  for (const node of log.nodesOfKind('message')) {
    if (node.role !== 'toolResult' && node.role !== 'assistant') return [];
    const entry = log.entry(node.id);
    if (entry?.type !== 'message') return [];
    const { message } = entry;
    if (message.role === 'toolResult') answered.add(message.toolCallId);
    if (message.role !== 'assistant') continue;
    if (isFailedOrAborted(message)) return [];
    const lost = toolCallsOf(message).filter((call) => !answered.has(call.id));
    for (const call of lost) log.append({ type: 'message', message: missingResult(call, Date.now()) });
    return lost.map((call) => call.id);
  }
  return [];
}
