import type { AssistantMessage, ToolCall } from '../protocol/generated/vocabulary.ts';

/** The tools that an answer calls. */
export const toolCallsOf = ({ content }: AssistantMessage): ToolCall[] =>
  content.filter((block) => block.type === 'toolCall');

/** Whether an answer broke off: it failed or was stopped, and no tool of it ever runs. */
export const isFailedOrAborted = ({ stopReason }: AssistantMessage): boolean =>
  stopReason === 'error' || stopReason === 'aborted';
