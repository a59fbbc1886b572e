import type { ToolDefinition } from '../../extension-api.ts';
import type { BuiltinToolCall, BuiltinToolName, BuiltinToolResult } from '../../tool-inputs.ts';

/** An event of a tool call. */
export interface ToolEvent {
  readonly toolName: string;
}

/** True if a tool event belongs to this tool. */
export function isToolCallEventType<N extends BuiltinToolName>(
  toolName: N,
  event: ToolEvent,
): event is BuiltinToolCall<N>;
export function isToolCallEventType<N extends string, I extends object>(
  toolName: N,
  event: ToolEvent,
): event is ToolEvent & { readonly toolName: N; readonly input: I };
export function isToolCallEventType(toolName: string, event: ToolEvent): boolean {
  return event.toolName === toolName;
}

const isResultOf =
  <N extends BuiltinToolName>(toolName: N) =>
  (event: ToolEvent): event is BuiltinToolResult<N> =>
    event.toolName === toolName;

export const isBashToolResult = isResultOf('bash');
export const isEditToolResult = isResultOf('edit');
export const isFindToolResult = isResultOf('find');
export const isGrepToolResult = isResultOf('grep');
export const isLsToolResult = isResultOf('ls');
export const isPowerShellToolResult = isResultOf('powershell');
export const isReadToolResult = isResultOf('read');
export const isWriteToolResult = isResultOf('write');

/** Returns its argument; it only helps the type inference. */
export const defineTool = <T extends ToolDefinition>(tool: T): T => tool;
