import { flag, freeform, list, nonEmpty, object, optional, text } from '../schema.ts';
import { BashResult, HostTool, McpServerStatus, TodoPhase, ToolInfo } from '../state.ts';
import type { CommandTable } from './row.ts';

/** Commands about shell commands, tools, MCP servers and todos. */
export const tools = {
  bash: {
    doc: 'Run a shell command and put its output into the conversation.',
    params: {
      command: nonEmpty(),
      excludeFromContext: optional(flag()),
      carriageReturns: optional(
        flag('Keep carriage returns in `bash_execution_update`: the text after one overwrites its line.'),
      ),
    },
    result: BashResult,
    fails: [],
    lane: 'bash',
    scope: 'bash',
  },
  abort_bash: {
    doc: 'Kill the shell commands that `bash` started.',
    params: {},
    fails: [],
    lane: 'control',
    scope: 'bash',
  },
  get_tools: {
    doc: 'Every tool, and whether it is offered to the model.',
    params: {},
    result: object({ tools: list(ToolInfo) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  set_active_tools: {
    doc: 'Offer the model these tools and no others, from its next call on.',
    params: { tools: list(nonEmpty()) },
    result: object({ activeTools: list(text()) }),
    fails: ['not_found'],
    lane: 'session',
    scope: 'prompt',
  },
  set_host_tools: {
    doc: 'Replace the tools that this client runs for the agent.',
    params: { tools: list(HostTool) },
    result: object({ toolNames: list(text()) }),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  set_mcp_servers: {
    doc: 'Replace the MCP servers that clients have added to this session. Responds when each of them is connected or has failed.',
    params: { servers: freeform('Name to McpServer.') },
    result: object({ servers: list(McpServerStatus) }),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  set_todos: {
    doc: 'Replace the todo list.',
    params: { phases: list(TodoPhase) },
    result: object({ todoPhases: list(TodoPhase) }),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
} as const satisfies CommandTable;
