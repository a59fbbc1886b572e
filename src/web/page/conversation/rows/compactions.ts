import type { AgentMessage } from '../../../../protocol/generated/vocabulary.ts';

/**
 * The messages after which a conversation was compacted, with the summaries that came of it. A summary stands before what
 * was kept, and has the time it was made at.
 */
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
