/** An event of a tool call. */
export interface ToolEvent {
  readonly toolName: string;
}

/** True if a tool event belongs to this tool. */
export const isToolCallEventType = (toolName: string, event: ToolEvent): boolean => event.toolName === toolName;

const isResultOf =
  (toolName: string) =>
  (event: ToolEvent): boolean =>
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
export const defineTool = <T>(tool: T): T => tool;
