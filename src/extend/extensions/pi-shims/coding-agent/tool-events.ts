interface ToolEvent {
  readonly toolName: string;
}

/** Whether a call that an extension hears of is one of this tool. */
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

/** For the compiler, which learns from it what the parameters are. */
export const defineTool = <T>(tool: T): T => tool;
