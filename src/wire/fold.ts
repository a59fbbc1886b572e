import type {
  AssistantBlock,
  AssistantMessage,
  AssistantMessageEvent,
  ToolCall,
} from '../protocol/generated/vocabulary.ts';

/** The message after one more step. Pure: neither argument changes, so that snapshots may be kept and sent later. */
export function fold(message: AssistantMessage, step: AssistantMessageEvent): AssistantMessage {
  switch (step.type) {
    case 'start':
      return message;
    case 'text_start':
      return withBlock(message, step.contentIndex, { type: 'text', text: '' });
    case 'thinking_start':
      return withBlock(message, step.contentIndex, { type: 'thinking', thinking: '' });
    case 'toolcall_start':
      return withBlock(message, step.contentIndex, {
        type: 'toolCall',
        id: step.id,
        name: step.toolName,
        arguments: {},
      });
    case 'text_delta':
    case 'thinking_delta':
      return grow(message, step.contentIndex, step.delta);
    case 'toolcall_delta':
      return message;
    case 'text_end':
      return withBlock(message, step.contentIndex, {
        ...blockAt(message, step.contentIndex, 'text'),
        text: step.content,
      });
    case 'thinking_end':
      return withBlock(message, step.contentIndex, {
        ...blockAt(message, step.contentIndex, 'thinking'),
        thinking: step.content,
      });
    case 'toolcall_end':
      return withBlock(message, step.contentIndex, step.toolCall);
    case 'done':
      return step.message ?? { ...message, stopReason: step.reason };
    case 'error':
      return step.error ?? { ...message, stopReason: step.reason };
    default:
      return step satisfies never;
  }
}

/**
 * Steps that lead from the empty message to this one: how a client that arrives in the middle catches up. Blocks that
 * may still be open get no end step, so that live steps can follow.
 */
export function catchUp(message: AssistantMessage): AssistantMessageEvent[] {
  const blocks = message.content.flatMap((block, contentIndex): AssistantMessageEvent[] => {
    switch (block.type) {
      case 'text':
        return [
          { type: 'text_start', contentIndex },
          { type: 'text_delta', contentIndex, delta: block.text },
        ];
      case 'thinking':
        return [
          { type: 'thinking_start', contentIndex },
          { type: 'thinking_delta', contentIndex, delta: block.thinking },
        ];
      case 'toolCall':
        return [
          { type: 'toolcall_start', contentIndex, id: block.id, toolName: block.name },
          ...argumentsOf(block, contentIndex),
        ];
      default:
        return block satisfies never;
    }
  });
  return [{ type: 'start' }, ...blocks];
}

/** A call has its arguments when it is whole, and none before. */
function argumentsOf(toolCall: ToolCall, contentIndex: number): AssistantMessageEvent[] {
  if (Object.keys(toolCall.arguments).length === 0) return [];
  return [
    { type: 'toolcall_delta', contentIndex, delta: JSON.stringify(toolCall.arguments) },
    { type: 'toolcall_end', contentIndex, toolCall },
  ];
}

function grow(message: AssistantMessage, index: number, delta: string): AssistantMessage {
  const block = message.content[index];
  if (block?.type === 'text') return withBlock(message, index, { ...block, text: block.text + delta });
  if (block?.type === 'thinking') return withBlock(message, index, { ...block, thinking: block.thinking + delta });
  return message;
}

function withBlock(message: AssistantMessage, index: number, block: AssistantBlock): AssistantMessage {
  const content = message.content.slice();
  content[index] = block;
  return { ...message, content };
}

function blockAt<T extends 'text' | 'thinking'>(message: AssistantMessage, index: number, type: T) {
  const block = message.content[index];
  return (block?.type === type ? block : { type }) as Extract<AssistantBlock, { type: T }>;
}
