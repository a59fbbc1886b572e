import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  Model,
  ToolResultMessage,
} from '../protocol/generated/vocabulary.ts';
import type { ModelMessage } from './request.ts';

/** Rewrites a tool call id of another API. */
export type ToolCallIdRule = (id: string) => string;

/**
 * Makes a conversation acceptable to this model, whichever models took part. Signatures, hidden thinking, foreign ids
 * and unsupported images of others are omitted or replaced by text.
 */
export function replayableMessages(
  messages: readonly ModelMessage[],
  model: Model,
  idRule: ToolCallIdRule,
): ModelMessage[] {
  const ids = new Map<string, string>();
  return messages.flatMap((message): ModelMessage[] => {
    switch (message.role) {
      case 'user':
        return [
          typeof message.content === 'string'
            ? message
            : { ...message, content: visibleContent(message.content, model) },
        ];
      case 'toolResult':
        return [replayResult(message, { model, ids })];
      case 'assistant':
        return replayAssistant(message, { model, ids, idRule });
      default:
        return message satisfies never;
    }
  });
}

interface ReplayTarget {
  readonly model: Model;
  /** New ids by old ids. */
  readonly ids: Map<string, string>;
  readonly idRule: ToolCallIdRule;
}

function replayAssistant(message: AssistantMessage, { model, ids, idRule }: ReplayTarget): AssistantMessage[] {
  const isOwn = message.api === model.api && message.provider === model.provider && message.model === model.id;
  const content = message.content.flatMap((block): AssistantBlock[] => {
    if (block.type !== 'toolCall') return isOwn ? [block] : asPlainText(block);
    if (isOwn) {
      ids.delete(block.id);
      return [block];
    }
    const id = idRule(block.id);
    ids.set(block.id, id);
    return [{ type: 'toolCall', id, name: block.name, arguments: block.arguments }];
  });
  // No provider accepts an empty assistant message.
  return content.some(hasContent) ? [{ ...message, content }] : [];
}

function asPlainText(block: Exclude<AssistantBlock, { type: 'toolCall' }>): AssistantBlock[] {
  if (block.type === 'text') return [{ type: 'text', text: block.text }];
  return block.redacted || block.thinking.trim() === '' ? [] : [{ type: 'text', text: block.thinking }];
}

const hasContent = (block: AssistantBlock) =>
  block.type === 'toolCall' ||
  (block.type === 'text'
    ? block.text.trim() !== ''
    : block.thinking.trim() !== '' || block.thinkingSignature !== undefined);

function replayResult(message: ToolResultMessage, { model, ids }: Omit<ReplayTarget, 'idRule'>): ToolResultMessage {
  const toolCallId = ids.get(message.toolCallId) ?? message.toolCallId;
  return { ...message, toolCallId, content: visibleContent(message.content, model) };
}

// Replaces images for a model without image input.
function visibleContent(content: readonly ContentBlock[], model: Model): ContentBlock[] {
  if (model.input.includes('image')) return [...content];
  return content.map((block) =>
    block.type === 'image' ? { type: 'text', text: '[An image, which this model cannot see]' } : block,
  );
}
