import { countBytes, tokensForBytes } from '../../model/token-estimate.ts';
import type { AgentMessage, ContextUsage, Model, Usage } from '../../protocol/generated/vocabulary.ts';

/**
 * How full the model's context is; unknown after a compaction until the next assistant message reports usage. `slope` is
 * the number of tokens for each estimated one.
 */
export function contextUsage(
  messages: readonly AgentMessage[],
  model: Model | null,
  slope = 1,
): ContextUsage | undefined {
  if (!model || model.contextWindow <= 0) return undefined;
  const { contextWindow } = model;
  const measured = measuredTokens(messages, slope);
  const isCompacted = messages[0]?.role === 'compactionSummary';
  if (measured === undefined && isCompacted) return { tokens: null, contextWindow, percent: null };
  const tokens = measured ?? estimateContext(messages);
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}

/** The usage of the last response and an estimate of what follows it; undefined without a response. */
export function measuredTokens(messages: readonly AgentMessage[], slope = 1): number | undefined {
  const since = measuredSince(messages);
  const last = messages.findLastIndex((message) => isMeasured(message) && message.timestamp >= since);
  const measured = messages[last];
  if (measured?.role !== 'assistant') return undefined;
  return tokensOf(measured.usage) + Math.ceil(estimateContext(messages.slice(last + 1)) * slope);
}

/** Time from which usage counts: messages that a compaction kept report usage that includes those it removed. */
export function measuredSince([first]: readonly AgentMessage[]): number {
  return first?.role === 'compactionSummary' ? first.timestamp : 0;
}

/** Whether a message reports the usage of the context before it. */
export const isMeasured = (message: AgentMessage | null) =>
  message?.role === 'assistant' &&
  message.stopReason !== 'error' &&
  message.stopReason !== 'aborted' &&
  message.usage !== undefined &&
  tokensOf(message.usage) > 0;

const tokensOf = (usage: Usage) => usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;

/** Tokens of a request as the provider reports them with its response. */
export const requestTokens = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite;

/** The first usage that was reported after a compaction, without the messages that came after it. */
export function tokensAfterCompaction(messages: readonly AgentMessage[], slope: number): number | undefined {
  const since = measuredSince(messages);
  const at = messages.findIndex((message) => isMeasured(message) && message.timestamp >= since);
  const first = messages[at];
  if (first?.role !== 'assistant') return undefined;
  const added = messages.slice(1, at).filter(({ timestamp }) => timestamp >= since);
  return requestTokens(first.usage) - estimateContext(added) * slope;
}

/** Estimated tokens of these messages. */
export const estimateContext = (messages: readonly AgentMessage[]): number =>
  messages.reduce((sum, message) => sum + estimateTokens(message), 0);

/** Estimated tokens of a message without reported usage. Session files may hold `null` messages. */
export function estimateTokens(message: AgentMessage | null): number {
  return tokensForBytes(bytesOf(message));
}

function bytesOf(message: AgentMessage | null): number {
  switch (message?.role) {
    case 'user':
    case 'custom':
    case 'toolResult':
    case 'assistant':
      return countBytes(message.content);
    case 'bashExecution':
      return message.excludeFromContext ? 0 : countBytes(message.command) + countBytes(message.output);
    case 'branchSummary':
    case 'compactionSummary':
      return countBytes(message.summary);
    default:
      return 0;
  }
}
