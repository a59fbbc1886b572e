import type { ModelMessage } from '../../../../model/request.ts';
import { countBytes, tokensForBytes } from '../../../../model/token-estimate.ts';
import type { AgentMessage, SessionEntry, Usage } from '../../../../protocol/generated/vocabulary.ts';
import { recordsOf } from '../../../../session/compaction/record.ts';
import { modelMessages } from '../../../../session/context/model-messages.ts';

/** Converts session messages to model messages. */
export const convertToLlm = (messages: readonly AgentMessage[]): ModelMessage[] => modelMessages(messages);

export const serializeConversation = (messages: readonly AgentMessage[]): string =>
  recordsOf(messages, Number.POSITIVE_INFINITY).join('\n\n');

export function estimateTokens(message: AgentMessage): number {
  if (message.role === 'bashExecution') return tokensForBytes(countBytes(message.command) + countBytes(message.output));
  return tokensForBytes(countBytes('summary' in message ? message.summary : message.content));
}

/** The context tokens after the last assistant message. */
export const calculateContextTokens = ({ totalTokens, input, output, cacheRead, cacheWrite }: Usage): number =>
  totalTokens || input + output + cacheRead + cacheWrite;

export const DEFAULT_COMPACTION_SETTINGS = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 };

/** True if the context is too full to continue. */
export const shouldCompact = (
  tokens: number,
  contextWindow: number,
  settings: { readonly enabled: boolean; readonly reserveTokens: number },
): boolean => settings.enabled && tokens > contextWindow - settings.reserveTokens;

/** The usage of the last assistant message that was neither aborted nor failed. */
export function getLastAssistantUsage(entries: readonly SessionEntry[]): Usage | undefined {
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'message' || entry.message.role !== 'assistant') continue;
    const { stopReason, usage } = entry.message;
    if (stopReason !== 'aborted' && stopReason !== 'error') return usage;
  }
  return undefined;
}

export const getLatestCompactionEntry = (entries: readonly SessionEntry[]): SessionEntry | null =>
  entries.findLast(({ type }) => type === 'compaction') ?? null;

/** The entries of a session file; malformed lines are skipped. */
export function parseSessionEntries(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line.trim() === '' ? [] : [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
