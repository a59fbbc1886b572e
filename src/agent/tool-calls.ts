import type { AssistantMessage, ToolCall } from '../protocol/generated/vocabulary.ts';

/** Tool calls of an assistant message. */
export const toolCallsOf = ({ content }: AssistantMessage): ToolCall[] =>
  content.filter((block) => block.type === 'toolCall');

/** Whether a message failed or was aborted; its tool calls never run. */
export const isFailedOrAborted = ({ stopReason }: AssistantMessage): boolean =>
  stopReason === 'error' || stopReason === 'aborted';
