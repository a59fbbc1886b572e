import { ApprovalMode, approvalLimit, SandboxState, SandboxUse, SavedApproval } from '../approvals/approval.ts';
import { flag, freeform, list, nonEmpty, object, optional, text } from '../schema.ts';
import { BashResult, HostTool, McpServerStatus, TodoPhase, ToolInfo } from '../state.ts';
import type { CommandTable } from './row.ts';

/** Commands about shell commands, tools and their approvals, MCP servers and todos. */
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
  set_approval_mode: {
    doc: 'Choose which tool calls run without a question, also during a run: questions that the new mode answers are closed. On a server a looser mode, or less of a sandbox, needs the scope `admin`.',
    params: {
      mode: optional(ApprovalMode),
      sandbox: optional(SandboxUse),
      approvalLimit,
      mayLoosen: optional(flag('Set by servers: false for clients that may only choose stricter modes.')),
    },
    result: object({ approvalMode: ApprovalMode, sandbox: SandboxState }),
    fails: ['permission_denied', 'sandbox_unavailable'],
    lane: 'control',
    scope: 'prompt',
  },
  get_approvals: {
    doc: 'The approvals that were given for this session and saved for its project.',
    params: {},
    result: object({ approvals: list(SavedApproval) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  remove_approval: {
    doc: 'Withdraw an approval, in this session and in the saved ones of its project.',
    params: { rule: nonEmpty() },
    fails: ['not_found'],
    lane: 'control',
    scope: 'prompt',
  },
} as const satisfies CommandTable;
