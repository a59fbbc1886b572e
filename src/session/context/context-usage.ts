import { countCharacters, tokensForCharacters } from '../../model/token-estimate.ts';
import type { AgentMessage, ContextUsage, Model, Usage } from '../../protocol/generated/vocabulary.ts';

/** How full the model's context is; unknown after a compaction until the next assistant message reports usage. */
export function contextUsage(messages: readonly AgentMessage[], model: Model | null): ContextUsage | undefined {
  if (!model || model.contextWindow <= 0) return undefined;
  const { contextWindow } = model;
  const measured = measuredTokens(messages);
  const isCompacted = messages[0]?.role === 'compactionSummary';
  if (measured === undefined && isCompacted) return { tokens: null, contextWindow, percent: null };
  const tokens = measured ?? estimateContext(messages);
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}

/** The usage of the last response and an estimate of what follows it; undefined without a response. */
export function measuredTokens(messages: readonly AgentMessage[]): number | undefined {
  const [first] = messages;
  // Messages that a compaction kept report usage that includes the messages it removed.
  const since = first?.role === 'compactionSummary' ? first.timestamp : 0;
  const last = messages.findLastIndex((message) => isMeasured(message) && message.timestamp >= since);
  const measured = messages[last];
  if (measured?.role !== 'assistant') return undefined;
  return tokensOf(measured.usage) + estimateContext(messages.slice(last + 1));
}

const isMeasured = (message: AgentMessage | null) =>
  message?.role === 'assistant' &&
  message.stopReason !== 'error' &&
  message.stopReason !== 'aborted' &&
  message.usage !== undefined &&
  tokensOf(message.usage) > 0;

const tokensOf = (usage: Usage) => usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;

/** Estimated tokens of these messages. */
export const estimateContext = (messages: readonly AgentMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);

/** Estimated tokens of a message without reported usage. Session files may hold `null` messages. */
export function estimateTokens(message: AgentMessage | null): number {
  return tokensForCharacters(charsOf(message));
}

function charsOf(message: AgentMessage | null): number {
  switch (message?.role) {
    case 'user':
    case 'custom':
    case 'toolResult':
    case 'assistant':
      return countCharacters(message.content);
    case 'bashExecution':
      return message.excludeFromContext ? 0 : (message.command?.length ?? 0) + (message.output?.length ?? 0);
    case 'branchSummary':
    case 'compactionSummary':
      return message.summary?.length ?? 0;
    default:
      return 0;
  }
}
