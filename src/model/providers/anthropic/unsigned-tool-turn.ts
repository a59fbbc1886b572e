import { isToolResult, isThinkingBlock, type MessageParam } from './messages.ts';

/**
 * Whether the current tool turn began without thinking, as when thinking was off or another model began it. The API
 * rejects a thinking budget until that turn ends.
 */
export function isUnsignedToolTurn(params: readonly MessageParam[]): boolean {
  const promptIndex = params.findLastIndex((param) => param.role === 'user' && !param.content.some(isToolResult));
  const assistant = params[promptIndex + 1];
  return assistant?.role === 'assistant' && !assistant.content.slice(0, 1).some(isThinkingBlock);
}
