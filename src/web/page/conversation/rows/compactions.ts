import type { AgentMessage } from '../../../../protocol/generated/vocabulary.ts';

// Maps the last message before each compaction to its summary. A summary precedes the kept messages and carries the
// time of the compaction.
export function compactionSummaries(messages: readonly AgentMessage[]): ReadonlyMap<AgentMessage, AgentMessage> {
  const summaries = new Map<AgentMessage, AgentMessage>();
  for (const [index, summary] of messages.entries()) {
    if (!isSummary(summary)) continue;
    const wasThere = (message: AgentMessage) => !isSummary(message) && message.timestamp <= summary.timestamp;
    const last = messages.findLastIndex(wasThere);
    const message = messages[last];
    if (message && last > index) summaries.set(message, summary);
  }
  return summaries;
}

const isSummary = ({ role }: AgentMessage) => role === 'compactionSummary';
