import type {
  AssistantBlock,
  AssistantMessage,
  ContentBlock,
  Model,
  ToolResultMessage,
} from '../protocol/generated/vocabulary.ts';
import type { ModelMessage } from './request.ts';

/** What a wire makes of the id of a tool call that another one gave. */
export type ToolCallIdRule = (id: string) => string;

/**
 * The conversation as this model can take it, whoever spoke before it. What only its author understands is left out or
 * said in plain words: seals, thoughts of other models, ids of a foreign form, images for a model that sees none.
 */
export function replayableMessages(messages: readonly ModelMessage[], model: Model, idRule: ToolCallIdRule): ModelMessage[] {
  const ids = new Map<string, string>();
  return messages.flatMap((message): ModelMessage[] => {
    switch (message.role) {
      case 'user':
        return [typeof message.content === 'string' ? message : { ...message, content: visibleContent(message.content, model) }];
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
  /** The new ids by the old ones, of the calls so far. */
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
  // No provider takes an answer without a word.
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

/** Images for a model that sees them, a word in their place for one that does not. */
function visibleContent(content: readonly ContentBlock[], model: Model): ContentBlock[] {
  if (model.input.includes('image')) return [...content];
  return content.map((block) =>
    block.type === 'image' ? { type: 'text', text: '[An image, which this model cannot see]' } : block,
  );
}
