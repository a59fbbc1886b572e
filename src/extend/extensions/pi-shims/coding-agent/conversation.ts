import type { ModelMessage } from '../../../../model/request.ts';
import { countBytes, tokensForBytes } from '../../../../model/token-estimate.ts';
import type {
  AgentMessage,
  AssistantBlock,
  ContentBlock,
  SessionEntry,
  ToolCall,
  Usage,
} from '../../../../protocol/generated/vocabulary.ts';
import { modelMessages } from '../../../../session/context/model-messages.ts';

/** Converts session messages to model messages. */
export const convertToLlm = (messages: readonly AgentMessage[]): ModelMessage[] =>
  modelMessages(
    messages.map((message) =>
      message.role === 'custom' && typeof message.content === 'string'
        ? { ...message, content: [{ type: 'text', text: message.content }] }
        : message,
    ),
  );

// Longer tool results are truncated.
const MAX_SERIALIZED_RESULT = 2000;

/** Renders a conversation as text for a summariser. */
export const serializeConversation = (messages: readonly AgentMessage[]): string =>
  messages.flatMap(paragraphsOf).join('\n\n');

function paragraphsOf(message: AgentMessage): string[] {
  switch (message.role) {
    case 'user':
      return paragraph('User', textOf(message.content, ''));
    case 'toolResult':
      return paragraph('Tool result', truncated(textOf(message.content, '')));
    case 'assistant': {
      const calls = message.content.flatMap((block) => (block.type === 'toolCall' ? [callText(block)] : []));
      return [
        ...paragraph('Assistant', textOf(message.content, '\n')),
        ...paragraph('Assistant tool calls', calls.join('; ')),
      ];
    }
    default:
      return convertToLlm([message]).flatMap(paragraphsOf);
  }
}

const paragraph = (speaker: string, text: string): string[] => (text === '' ? [] : [`[${speaker}]: ${text}`]);

const textOf = (content: string | readonly (ContentBlock | AssistantBlock)[], separator: string): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(separator);

function truncated(text: string): string {
  if (text.length <= MAX_SERIALIZED_RESULT) return text;
  const rest = text.length - MAX_SERIALIZED_RESULT;
  return `${text.slice(0, MAX_SERIALIZED_RESULT)}\n\n[... ${rest} more characters truncated]`;
}

const callText = ({ name, arguments: args }: ToolCall): string =>
  `${name}(${Object.entries(args)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(', ')})`;

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
