import { countCharacters, tokensForCharacters } from '../../../../model/token-estimate.ts';
import type { ModelMessage } from '../../../../model/request.ts';
import type { AgentMessage, SessionEntry, Usage } from '../../../../protocol/generated/vocabulary.ts';
import { recordsOf } from '../../../../session/compaction/record.ts';
import { modelMessages } from '../../../../session/context/model-messages.ts';

/** A conversation as a model is told it. */
export const convertToLlm = (messages: readonly AgentMessage[]): ModelMessage[] => modelMessages(messages);

/** A conversation as a text to read. */
export const serializeConversation = (messages: readonly AgentMessage[]): string =>
  recordsOf(messages, Number.POSITIVE_INFINITY).join('\n\n');

/** A guess at how many tokens a message takes. */
export function estimateTokens(message: AgentMessage): number {
  if (message.role === 'bashExecution') return tokensForCharacters(message.command.length + message.output.length);
  return tokensForCharacters('summary' in message ? message.summary.length : countCharacters(message.content));
}

/** How full a context was, by what its last answer used. */
export const calculateContextTokens = ({ totalTokens, input, output, cacheRead, cacheWrite }: Usage): number =>
  totalTokens || input + output + cacheRead + cacheWrite;

export const DEFAULT_COMPACTION_SETTINGS = { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 };

/** Whether a context is too full to go on with. */
export const shouldCompact = (
  tokens: number,
  contextWindow: number,
  settings: { readonly enabled: boolean; readonly reserveTokens: number },
): boolean => settings.enabled && tokens > contextWindow - settings.reserveTokens;

/** What the last answer used that was neither stopped nor failed. */
export function getLastAssistantUsage(entries: readonly SessionEntry[]): Usage | undefined {
  for (const entry of entries.toReversed()) {
    if (entry.type !== 'message' || entry.message.role !== 'assistant') continue;
    const { stopReason, usage } = entry.message;
    if (stopReason !== 'aborted' && stopReason !== 'error') return usage;
  }
  return undefined;
}

/** The last summary of a conversation; null where there is none. */
export const getLatestCompactionEntry = (entries: readonly SessionEntry[]): SessionEntry | null =>
  entries.findLast(({ type }) => type === 'compaction') ?? null;

/** The lines of a session file; those that are broken are left out. */
export function parseSessionEntries(text: string): unknown[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line.trim() === '' ? [] : [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}
