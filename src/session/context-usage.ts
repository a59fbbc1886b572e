import type { AgentMessage, ContentBlock, ContextUsage, Model, Usage } from '../protocol/generated/vocabulary.ts';

const CHARS_PER_TOKEN = 4;
const CHARS_PER_IMAGE = 4800;

/** How full the model's context is. Nothing is known right after a compaction, until the next answer says. */
export function contextUsage(messages: readonly AgentMessage[], model: Model | null): ContextUsage | undefined {
  if (!model || model.contextWindow <= 0) return undefined;
  const { contextWindow } = model;
  const [first] = messages;
  // What was kept by a compaction was measured with everything that is gone now.
  const since = first?.role === 'compactionSummary' ? first.timestamp : undefined;
  const known = messages.findLastIndex((message) => isMeasured(message) && message.timestamp >= (since ?? 0));
  if (known === -1 && since !== undefined) return { tokens: null, contextWindow, percent: null };
  const measured = messages[known];
  const base = measured?.role === 'assistant' ? tokensOf(measured.usage) : 0;
  const tokens = base + estimateContext(messages.slice(known + 1));
  return { tokens, contextWindow, percent: (tokens / contextWindow) * 100 };
}

const isMeasured = (message: AgentMessage) =>
  message.role === 'assistant' &&
  message.stopReason !== 'error' &&
  message.stopReason !== 'aborted' &&
  tokensOf(message.usage) > 0;

const tokensOf = (usage: Usage) => usage.totalTokens || usage.input + usage.output + usage.cacheRead + usage.cacheWrite;

/** A guess at what these messages cost together. */
export const estimateContext = (messages: readonly AgentMessage[]): number => sum(messages.map(estimateTokens));

/** A guess at what a message costs, before a provider has counted it. */
export function estimateTokens(message: AgentMessage): number {
  return Math.ceil(charsOf(message) / CHARS_PER_TOKEN);
}

function charsOf(message: AgentMessage): number {
  switch (message.role) {
    case 'user':
    case 'custom':
    case 'toolResult':
      return typeof message.content === 'string' ? message.content.length : sum(message.content.map(blockChars));
    case 'assistant':
      return sum(
        message.content.map((block) => {
          if (block.type === 'text') return block.text.length;
          if (block.type === 'thinking') return block.thinking.length;
          return block.name.length + JSON.stringify(block.arguments).length;
        }),
      );
    case 'bashExecution':
      return message.excludeFromContext ? 0 : message.command.length + message.output.length;
    case 'branchSummary':
    case 'compactionSummary':
      return message.summary.length;
    default:
      return message satisfies never;
  }
}

const blockChars = (block: ContentBlock) => (block.type === 'text' ? block.text.length : CHARS_PER_IMAGE);

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
