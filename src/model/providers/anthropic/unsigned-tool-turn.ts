import { isToolResult, isThinkingBlock, type MessageParam } from './messages.ts';

/**
 * Whether the model is busy with its tools and began without a thought, as when thinking was off then or another model
 * spoke. Until it is done the API refuses to give it a budget for thinking.
 */
export function isUnsignedToolTurn(params: readonly MessageParam[]): boolean {
  const promptIndex = params.findLastIndex((param) => param.role === 'user' && !param.content.some(isToolResult));
  const assistant = params[promptIndex + 1];
  return assistant?.role === 'assistant' && !assistant.content.slice(0, 1).some(isThinkingBlock);
}
