import { ApprovalMode, SandboxState } from './approvals/approval.ts';
import { Model, ThinkingLevel } from './models.ts';
import {
  amount,
  choice,
  count,
  flag,
  freeform,
  list,
  nonEmpty,
  nullable,
  object,
  optional,
  text,
  unknown,
} from './schema.ts';

export const QueueMode = choice(['all', 'one-at-a-time'], 'QueueMode', 'How many queued messages one turn takes.');
export const InterruptMode = choice(
  ['immediate', 'wait'],
  'InterruptMode',
  'Whether steering may skip the tools that a turn has not started yet.',
);

export const QueuedItem = object(
  { id: text(), kind: choice(['steer', 'followUp']), text: text() },
  'QueuedItem',
  'A queued message.',
);

export const TodoTask = object(
  {
    id: optional(text()),
    content: nonEmpty(),
    status: choice(['pending', 'in_progress', 'completed', 'abandoned', 'blocked']),
    notes: optional(text()),
    details: optional(text()),
  },
  'TodoTask',
);

export const TodoPhase = object({ id: optional(text()), name: nonEmpty(), tasks: list(TodoTask) }, 'TodoPhase');

export const HostTool = object(
  {
    name: text('1 to 64 letters, digits, _ and -.'),
    label: optional(text()),
    description: text('Sent to the model.'),
    parameters: freeform('JSON Schema of an object.'),
    hidden: optional(flag('Not offered to the model until `set_active_tools` names it.')),
    timeoutMs: optional(count('How long a call may take; 0 or absent: 10 minutes.')),
  },
  'HostTool',
  'A tool that the client runs.',
);

export const McpServer = object(
  {
    command: optional(nonEmpty('A program that serves MCP over stdin and stdout.')),
    args: optional(list(text())),
    env: optional(freeform('More environment, name to text.')),
    cwd: optional(text()),
    url: optional(nonEmpty('The address of a server for MCP over HTTP.')),
    type: optional(nonEmpty('`stdio`, `http`, or `sse` for the older transport. It follows from the other fields.')),
    headers: optional(freeform('Sent with every request, name to text.')),
    oauth: optional(freeform('How to sign in: see docs/mcp.md. Absent: with a client that tau registers.')),
    timeoutMs: optional(count('The time limit for connecting and for each tool call.')),
    disabled: optional(flag()),
  },
  'McpServer',
  'A server of tools: either `command` or `url`.',
);

export const McpServerStatus = object(
  {
    name: text(),
    status: choice(['connecting', 'ready', 'failed', 'closed', 'disabled']),
    tools: list(text(), 'The tool names that the model sees.'),
    error: optional(text()),
  },
  'McpServerStatus',
);

export const BashCommand = object({ command: text(), excludeFromContext: flag() }, 'BashCommand');

/** State records of a session: settings, queue, todos, tools, statistics and results of commands. */
export const SessionState = object(
  {
    model: nullable(Model),
    modelFallbackMessage: optional(text('Why the built-in model is used.')),
    thinkingLevel: ThinkingLevel,
    isStreaming: flag('A run is active.'),
    isIdle: flag(),
    isCompacting: flag(),
    steeringMode: QueueMode,
    followUpMode: QueueMode,
    interruptMode: InterruptMode,
    sessionFile: optional(text('Absent with `--no-session`.')),
    sessionId: text(),
    sessionName: optional(text()),
    cwd: text(),
    projectTrusted: flag(),
    skippedFiles: optional(list(text(), 'Files that are not used because the project is not trusted.')),
    autoCompactionEnabled: flag(),
    messageCount: count(),
    pendingMessageCount: count(),
    queuedMessageCount: count('The same number under its xcsh name.'),
    queuedMessages: list(QueuedItem),
    todoPhases: list(TodoPhase),
    pendingUi: list(unknown(), 'Dialogs that wait for an answer.'),
    activeTools: list(text()),
    mcpServers: optional(list(McpServerStatus, 'Absent when there are none.')),
    runId: optional(text('The run that is active.')),
    approvalMode: optional(ApprovalMode),
    approvalModes: optional(list(ApprovalMode, 'The modes that a client may choose.')),
    sandbox: optional(SandboxState),
    runningBash: optional(list(BashCommand, 'The `bash` commands that run now; absent when there are none.')),
  },
  'SessionState',
);

export const ContextUsage = object(
  { tokens: nullable(count()), contextWindow: count(), percent: nullable(amount()) },
  'ContextUsage',
);

export const SessionStats = object(
  {
    sessionFile: optional(text()),
    sessionId: text(),
    userMessages: count(),
    assistantMessages: count(),
    toolCalls: count(),
    toolResults: count(),
    totalMessages: count(),
    tokens: object({ input: count(), output: count(), cacheRead: count(), cacheWrite: count(), total: count() }),
    cost: amount(),
    subscription: optional(flag('The model is used with a plan: its cost is an estimate, not a bill.')),
    contextUsage: optional(ContextUsage),
  },
  'SessionStats',
);

export const CompactionResult = object(
  {
    summary: text(),
    firstKeptEntryId: text(),
    tokensBefore: count(),
    estimatedTokensAfter: optional(count()),
    details: optional(unknown()),
    usage: optional(unknown()),
  },
  'CompactionResult',
);

export const BashResult = object(
  {
    output: text(),
    exitCode: optional(nullable(amount('Null when the command was killed.'))),
    cancelled: flag(),
    truncated: flag(),
    fullOutputPath: optional(nullable(text())),
  },
  'BashResult',
);

const SourceInfo = object({
  path: text(),
  source: text(),
  scope: choice(['user', 'project', 'temporary']),
  origin: choice(['package', 'top-level']),
  baseDir: optional(text()),
});

export const SlashCommand = object(
  {
    name: text('Invoked as `/name`.'),
    description: optional(text()),
    source: choice(['extension', 'prompt', 'skill', 'builtin']),
    location: optional(choice(['user', 'project', 'path'])),
    path: optional(text()),
    sourceInfo: optional(SourceInfo),
    argumentHint: optional(text()),
  },
  'SlashCommand',
);

export const SessionSummary = object(
  {
    path: text(),
    id: text(),
    firstMessage: text(),
    messageCount: count(),
    lastModified: text('ISO 8601.'),
    cwd: text(),
    title: optional(text()),
    name: optional(text()),
    parentSession: optional(text('The file of the session that this one was copied from.')),
    status: optional(choice(['running', 'waiting', 'idle'])),
    cost: optional(amount()),
    tokens: optional(count()),
  },
  'SessionSummary',
);

export const ToolInfo = object(
  {
    name: text(),
    description: text(),
    parameters: freeform('JSON Schema.'),
    active: flag('Offered to the model.'),
    source: choice(['builtin', 'extension', 'host', 'mcp']),
  },
  'ToolInfo',
);

export const Finding = object(
  {
    check: text('The subject of the check, such as `model` or `directory sessions`.'),
    status: choice(['ok', 'warning', 'error']),
    message: text(),
  },
  'Finding',
);

export const Preflight = object(
  { ok: flag('No finding is an error.'), findings: list(Finding) },
  'Preflight',
  'Problems that would stop a prompt, found without spending a token.',
);

/** Parts of the protocol that an agent may lack: an older one, or one without a server. */
export const Feature = choice(
  [
    'stream_delta',
    'tool_output_delta',
    'ids',
    'entries',
    'builtins',
    'heartbeat',
    'client_message_ids',
    'queue_items',
    'budgets',
    'detached_sessions',
    'host_tools',
    'mcp_servers',
    'resume',
  ],
  'Feature',
  'A part of the protocol that a client can use: options of `hello`, `clientMessageId`, editable queue items, budgets of a prompt, `detached` session commands, `set_host_tools`, `set_mcp_servers`, and, on a server, resuming by cursor.',
);
