// Generated from the protocol tables by scripts/generate.mjs. Do not edit.

export type AssistantBlock = TextContent | ThinkingContent | ToolCall;

export interface TextContent {
  type: 'text';
  text: string;
  /** Opaque; replayed to the provider. */
  textSignature?: string | undefined;
}

export interface ThinkingContent {
  type: 'thinking';
  thinking: string;
  /** Opaque; replayed to the provider. */
  thinkingSignature?: string | undefined;
  redacted?: boolean | undefined;
}

export interface ToolCall {
  type: 'toolCall';
  id: string;
  name: string;
  /** As the model wrote them, before validation. */
  arguments: Record<string, unknown>;
  /** Opaque; replayed to the provider. */
  thoughtSignature?: string | undefined;
}

/** Found on user messages of old sessions; tau keeps but never makes them. */
export interface Attachment {
  id: string;
  type: string;
  fileName: string;
  mimeType: string;
  size: number;
  content: string;
  extractedText?: string | null | undefined;
  preview?: string | null | undefined;
}

export type ContentBlock = TextContent | ImageContent;

/** The one form in which images are sent. */
export interface ImageContent {
  type: 'image';
  /** Base64. */
  data: string;
  mimeType: string;
}

/** An image as clients may send it. */
export type ImageInput = PlainImage | ForeignImage;

export interface PlainImage {
  type?: 'image' | undefined;
  /** Base64. */
  data: string;
  mimeType: string;
}

/** The Anthropic spelling of an image, accepted and converted. */
export interface ForeignImage {
  type: 'image';
  source: {
    type?: 'base64' | undefined;
    mediaType?: string | undefined;
    media_type?: string | undefined;
    mimeType?: string | undefined;
    data: string;
  };
}

export interface Model {
  id: string;
  name: string;
  /** The wire the provider speaks. */
  api: string;
  provider: string;
  /** Withheld from remote clients that do not administrate. */
  baseUrl?: string | undefined;
  reasoning: boolean;
  input: ('text' | 'image')[];
  contextWindow: number;
  maxTokens: number;
  cost: ModelCost;
  /** Withheld from remote clients that do not administrate. */
  headers?: Record<string, unknown> | undefined;
  /** Levels this model adds, renames or (null) lacks. */
  thinkingLevelMap?: Record<string, unknown> | undefined;
  /** How the server differs from others that speak the same API. */
  compat?: Record<string, unknown> | undefined;
  supportsImages?: boolean | undefined;
  supportsTools?: boolean | undefined;
  /** The same as `reasoning`. */
  thinking?: boolean | undefined;
}

/** US dollars per million tokens. */
export interface ModelCost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** How much a model may think before it answers. */
export type ThinkingLevel = 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** A level as clients may send it; `brief` means `minimal`. */
export type ThinkingLevelInput = 'off' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | 'brief';

/** Anything a conversation consists of, told apart by `role`. */
export type AgentMessage = UserMessage | AssistantMessage | ToolResultMessage | BashExecutionMessage | CustomMessage | BranchSummaryMessage | CompactionSummaryMessage;

export interface UserMessage {
  role: 'user';
  content: string | ContentBlock[];
  /** Milliseconds since 1970. */
  timestamp: number;
  attachments?: Attachment[] | undefined;
}

export interface AssistantMessage {
  role: 'assistant';
  content: AssistantBlock[];
  api: string;
  provider: string;
  model: string;
  usage: Usage;
  stopReason: StopReason;
  errorMessage?: string | undefined;
  errorCode?: RunError | undefined;
  /** Milliseconds since 1970. */
  timestamp: number;
  responseId?: string | undefined;
  responseModel?: string | undefined;
  rawStopReason?: string | undefined;
  thinkingLevel?: ThinkingLevel | undefined;
  durationMs?: number | undefined;
  diagnostics?: unknown | undefined;
}

/** Tokens and US dollars of one model answer. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  /** Absent in messages of old sessions. */
  totalTokens?: number | undefined;
  reasoning?: number | undefined;
  cacheWrite1h?: number | undefined;
  cost: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
    totalFromProvider?: boolean | undefined;
  };
}

export type StopReason = 'stop' | 'length' | 'toolUse' | 'error' | 'aborted';

/** Why a run failed. A closed set, unlike `errorMessage`. */
export type RunError = 'model_error' | 'auth_failed' | 'rate_limited' | 'overloaded' | 'context_overflow' | 'stalled' | 'connection_lost' | 'storage_failed' | 'interrupted' | 'internal';

export interface ToolResultMessage {
  role: 'toolResult';
  toolCallId: string;
  toolName: string;
  content: ContentBlock[];
  details?: unknown | undefined;
  isError: boolean;
  /** Milliseconds since 1970. */
  timestamp: number;
  usage?: unknown | undefined;
  nestedCalls?: unknown | undefined;
  durationMs?: number | undefined;
}

/** A command the client ran with `bash`. */
export interface BashExecutionMessage {
  role: 'bashExecution';
  command: string;
  output: string;
  exitCode?: number | null | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string | null | undefined;
  /** Milliseconds since 1970. */
  timestamp: number;
  excludeFromContext?: boolean | undefined;
}

/** A message an extension put into the conversation. */
export interface CustomMessage {
  role: 'custom';
  customType: string;
  content: string | ContentBlock[];
  display: boolean;
  details?: unknown | undefined;
  /** Milliseconds since 1970. */
  timestamp: number;
}

export interface BranchSummaryMessage {
  role: 'branchSummary';
  summary: string;
  fromId: string;
  /** Milliseconds since 1970. */
  timestamp: number;
}

export interface CompactionSummaryMessage {
  role: 'compactionSummary';
  summary: string;
  tokensBefore: number;
  /** Milliseconds since 1970. */
  timestamp: number;
}

export interface BranchSummaryEntry {
  type: 'branch_summary';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  fromId: string;
  summary: string;
  details?: unknown | undefined;
  fromHook?: boolean | undefined;
  usage?: Usage | undefined;
}

export interface CompactionEntry {
  type: 'compaction';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: unknown | undefined;
  fromHook?: boolean | undefined;
  usage?: Usage | undefined;
  systemMessage?: unknown | undefined;
}

export interface ContextEditEntry {
  type: 'context_edit';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  targetId: string;
  replacement: unknown;
}

export interface CustomEntry {
  type: 'custom';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  customType: string;
  data?: unknown | undefined;
}

export interface CustomMessageEntry {
  type: 'custom_message';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  customType: string;
  content: string | ContentBlock[];
  display: boolean;
  details?: unknown | undefined;
}

export interface LabelEntry {
  type: 'label';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  targetId: string;
  label?: string | undefined;
}

export interface MessageEntry {
  type: 'message';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  /** What makes a repeated prompt recognisable. */
  clientMessageId?: string | undefined;
  /** The queued item that this message delivers. */
  queueId?: string | undefined;
  message: AgentMessage;
}

export interface ModelChangeEntry {
  type: 'model_change';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  provider: string;
  modelId: string;
}

/** A line of a session file. Types that tau does not know survive on disk and are passed on as they are. */
export type SessionEntry = MessageEntry | ModelChangeEntry | ThinkingLevelChangeEntry | CompactionEntry | BranchSummaryEntry | CustomEntry | CustomMessageEntry | LabelEntry | SessionInfoEntry | UsageEntry | ContextEditEntry;

export interface ThinkingLevelChangeEntry {
  type: 'thinking_level_change';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  thinkingLevel: string;
}

export interface SessionInfoEntry {
  type: 'session_info';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  name?: string | undefined;
}

export interface UsageEntry {
  type: 'usage';
  id: string;
  parentId: string | null;
  /** ISO 8601. */
  timestamp: string;
  kind: string;
  provider: string;
  model: string;
  usage: Usage;
}

/** The first line of a session file. */
export interface SessionHeader {
  type: 'session';
  /** Absent in version 1. */
  version?: number | undefined;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  cwd: string;
  parentSession?: string | undefined;
}

export interface TreeNode {
  entry: SessionEntry;
  children: TreeNode[];
  label?: string | undefined;
  labelTimestamp?: string | undefined;
}

export interface BashCommand {
  command: string;
  excludeFromContext: boolean;
}

export interface BashResult {
  output: string;
  exitCode?: number | null | undefined;
  cancelled: boolean;
  truncated: boolean;
  fullOutputPath?: string | null | undefined;
}

export interface CompactionResult {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  estimatedTokensAfter?: number | undefined;
  details?: unknown | undefined;
  usage?: unknown | undefined;
}

export interface ContextUsage {
  tokens: number | null;
  contextWindow: number;
  percent: number | null;
}

export interface Finding {
  /** What was looked at, such as `model` or `directory sessions`. */
  check: string;
  status: 'ok' | 'warning' | 'error';
  message: string;
}

/** A tool that the client runs. */
export interface HostTool {
  /** 1 to 64 letters, digits, _ and -. */
  name: string;
  label?: string | undefined;
  /** What the model is told of it. */
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
  /** Not offered to the model until `set_active_tools` says so. */
  hidden?: boolean | undefined;
  /** How long a call may take; 0 or absent: 10 minutes. */
  timeoutMs?: number | undefined;
}

/** Whether steering may skip the tools that a turn has not started yet. */
export type InterruptMode = 'immediate' | 'wait';

/** A server of tools: either `command` or `url`. */
export interface McpServer {
  /** A program that speaks MCP over stdin and stdout. */
  command?: string | undefined;
  args?: string[] | undefined;
  /** More environment, name to text. */
  env?: Record<string, unknown> | undefined;
  cwd?: string | undefined;
  /** A server that speaks MCP over streamable HTTP. */
  url?: string | undefined;
  /** Sent with every request, name to text. */
  headers?: Record<string, unknown> | undefined;
  /** How long it may take to connect, and each of its tools to answer. */
  timeoutMs?: number | undefined;
  disabled?: boolean | undefined;
}

export interface McpServerStatus {
  name: string;
  status: 'connecting' | 'ready' | 'failed' | 'closed' | 'disabled';
  /** The names by which the model knows them. */
  tools: string[];
  error?: string | undefined;
}

/** What stands in the way of a prompt, found without spending a token. */
export interface Preflight {
  /** No finding is an error. */
  ok: boolean;
  findings: Finding[];
}

/** How many queued messages one turn takes. */
export type QueueMode = 'all' | 'one-at-a-time';

/** A message that waits for its turn. */
export interface QueuedItem {
  id: string;
  kind: 'steer' | 'followUp';
  text: string;
}

export interface SessionState {
  model: Model | null;
  /** Why the built-in model was taken. */
  modelFallbackMessage?: string | undefined;
  thinkingLevel: ThinkingLevel;
  /** A run is active. */
  isStreaming: boolean;
  isIdle: boolean;
  isCompacting: boolean;
  steeringMode: QueueMode;
  followUpMode: QueueMode;
  interruptMode: InterruptMode;
  /** Absent with `--no-session`. */
  sessionFile?: string | undefined;
  sessionId: string;
  sessionName?: string | undefined;
  cwd: string;
  projectTrusted: boolean;
  autoCompactionEnabled: boolean;
  messageCount: number;
  pendingMessageCount: number;
  /** The same number under its xcsh name. */
  queuedMessageCount: number;
  queuedMessages: QueuedItem[];
  todoPhases: TodoPhase[];
  /** Dialogs that wait for an answer. */
  pendingUi: unknown[];
  activeTools: string[];
  /** Absent when there are none. */
  mcpServers?: McpServerStatus[] | undefined;
  /** The run that is active. */
  runId?: string | undefined;
  /** The `bash` commands that run now; absent when there are none. */
  runningBash?: BashCommand[] | undefined;
}

export interface TodoPhase {
  id?: string | undefined;
  name: string;
  tasks: TodoTask[];
}

export interface TodoTask {
  id?: string | undefined;
  content: string;
  status: 'pending' | 'in_progress' | 'completed' | 'abandoned' | 'blocked';
  notes?: string | undefined;
  details?: string | undefined;
}

export interface SessionStats {
  sessionFile?: string | undefined;
  sessionId: string;
  userMessages: number;
  assistantMessages: number;
  toolCalls: number;
  toolResults: number;
  totalMessages: number;
  tokens: {
    input: number;
    output: number;
    cacheRead: number;
    cacheWrite: number;
    total: number;
  };
  cost: number;
  contextUsage?: ContextUsage | undefined;
}

export interface SessionSummary {
  path: string;
  id: string;
  firstMessage: string;
  messageCount: number;
  /** ISO 8601. */
  lastModified: string;
  cwd: string;
  title?: string | undefined;
  name?: string | undefined;
  /** The file of the session that this one came from. */
  parentSession?: string | undefined;
  status?: 'running' | 'waiting' | 'idle' | undefined;
  cost?: number | undefined;
  tokens?: number | undefined;
}

export interface SlashCommand {
  /** Invoked as `/name`. */
  name: string;
  description?: string | undefined;
  source: 'extension' | 'prompt' | 'skill' | 'builtin';
  location?: 'user' | 'project' | 'path' | undefined;
  path?: string | undefined;
  sourceInfo?: {
    path: string;
    source: string;
    scope: 'user' | 'project' | 'temporary';
    origin: 'package' | 'top-level';
    baseDir?: string | undefined;
  } | undefined;
  argumentHint?: string | undefined;
}

export interface ToolInfo {
  name: string;
  description: string;
  /** JSON Schema. */
  parameters: Record<string, unknown>;
  /** The model is offered it. */
  active: boolean;
  source: 'builtin' | 'extension' | 'host' | 'mcp';
}

/** What a run may use up. It ends with outcome `budget` before the model call that would go beyond. */
export interface Limits {
  /** Model calls. */
  turns?: number | undefined;
  /** Tokens of all model calls together. */
  tokens?: number | undefined;
  /** Dollars. */
  cost?: number | undefined;
  /** Milliseconds from the start of the run. */
  wallMs?: number | undefined;
}

export interface Accepted {
  /** Opened a run, joined one, or needed none. */
  disposition: 'started' | 'queued' | 'handled';
  /** The run that serves the message. */
  runId?: string | undefined;
  /** The queued item, when it was queued. */
  queueId?: string | undefined;
  /** This `clientMessageId` was here before. */
  duplicate?: boolean | undefined;
  /** What a built-in command has to say. */
  output?: string | undefined;
}

export interface Moved {
  /** An extension said no. */
  cancelled: boolean;
  sessionId?: string | undefined;
  sessionFile?: string | undefined;
}

export interface Forked {
  text: string;
  cancelled: boolean;
  sessionId?: string | undefined;
  sessionFile?: string | undefined;
}

export interface ForkPoints {
  messages: ({
    entryId: string;
    text: string;
  })[];
}

export interface FileMatch {
  /** Below the folder; that of a folder ends with /. */
  path: string;
}

export interface AgentStartEvent {
  type: 'agent_start';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
}

export interface AgentEndEvent {
  type: 'agent_end';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  /** What was added since agent_start. */
  messages: AgentMessage[];
  /** The same request is about to be repeated. */
  willRetry: boolean;
  /** False: the session goes on by itself. */
  isTerminal: boolean;
}

export interface AgentSettledEvent {
  type: 'agent_settled';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  runId: string;
  aborted: boolean;
  outcome: RunOutcome;
  errorCode?: RunError | undefined;
  errorMessage?: string | undefined;
  /** The client messages that the run served. */
  clientMessageIds: string[];
}

export type RunOutcome = 'ok' | 'error' | 'aborted' | 'budget';

export interface TurnStartEvent {
  type: 'turn_start';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
}

export interface TurnEndEvent {
  type: 'turn_end';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  message: AssistantMessage;
  /** In the order of the calls. */
  toolResults: ToolResultMessage[];
}

export interface MessageStartEvent {
  type: 'message_start';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  message: AgentMessage;
}

export interface MessageUpdateEvent {
  type: 'message_update';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  assistantMessageEvent: AssistantMessageEvent;
  message?: AssistantMessage | undefined;
  usage?: Usage | undefined;
}

/** One step of a streaming answer. `partial`, and `message` or `error` at the end, are there in cumulative form only. */
export type AssistantMessageEvent = {
  type: 'start';
  partial?: AssistantMessage | undefined;
} | {
  type: 'text_start';
  contentIndex: number;
  partial?: AssistantMessage | undefined;
} | {
  type: 'text_delta';
  contentIndex: number;
  delta: string;
  partial?: AssistantMessage | undefined;
} | {
  type: 'text_end';
  contentIndex: number;
  content: string;
  partial?: AssistantMessage | undefined;
} | {
  type: 'thinking_start';
  contentIndex: number;
  partial?: AssistantMessage | undefined;
} | {
  type: 'thinking_delta';
  contentIndex: number;
  delta: string;
  partial?: AssistantMessage | undefined;
} | {
  type: 'thinking_end';
  contentIndex: number;
  content: string;
  partial?: AssistantMessage | undefined;
} | {
  type: 'toolcall_start';
  contentIndex: number;
  /** The id of the tool call. */
  id: string;
  toolName: string;
  partial?: AssistantMessage | undefined;
} | {
  type: 'toolcall_delta';
  contentIndex: number;
  delta: string;
  partial?: AssistantMessage | undefined;
} | {
  type: 'toolcall_end';
  contentIndex: number;
  toolCall: ToolCall;
  partial?: AssistantMessage | undefined;
} | {
  type: 'done';
  reason: 'stop' | 'length' | 'toolUse';
  message?: AssistantMessage | undefined;
} | {
  type: 'error';
  reason: 'aborted' | 'error';
  error?: AssistantMessage | undefined;
};

export interface MessageEndEvent {
  type: 'message_end';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  message: AgentMessage;
}

export interface ToolExecutionStartEvent {
  type: 'tool_execution_start';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
}

export interface ToolExecutionUpdateEvent {
  type: 'tool_execution_update';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  toolCallId: string;
  toolName: string;
  args: Record<string, unknown>;
  partialResult: ToolProgress;
}

export interface ToolProgress {
  content: ContentBlock[];
  details?: unknown | undefined;
}

export interface ToolExecutionEndEvent {
  type: 'tool_execution_end';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  toolCallId: string;
  toolName: string;
  result: ToolProgress;
  isError: boolean;
}

export interface HeartbeatEvent {
  type: 'heartbeat';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  runId?: string | undefined;
  blockedOn: BlockedOn | null;
}

export interface BlockedOn {
  kind: 'provider' | 'tool' | 'dialog' | 'retry' | 'compaction' | 'client';
  elapsedMs: number;
  toolCallId?: string | undefined;
  toolName?: string | undefined;
}

export interface ReadyEvent {
  type: 'ready';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  version: string;
  protocolVersion: number;
  supportedProtocolVersions: number[];
}

export interface QueueUpdateEvent {
  type: 'queue_update';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  steering: string[];
  followUp: string[];
  items: QueuedItem[];
}

export interface StateChangedEvent {
  type: 'state_changed';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  /** Some of the fields of SessionState. */
  state: Record<string, unknown>;
}

export interface SessionInfoChangedEvent {
  type: 'session_info_changed';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  name?: string | undefined;
}

export interface ThinkingLevelChangedEvent {
  type: 'thinking_level_changed';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  level: ThinkingLevel;
}

export interface SessionRepairedEvent {
  type: 'session_repaired';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  sessionId: string;
  /** Calls that got an error result in place of the lost one. */
  toolCallIds: string[];
  /** Bytes of a half-written last line that were cut off. */
  tornBytes: number;
}

export interface EntryAppendedEvent {
  type: 'entry_appended';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  entry: SessionHeader | SessionEntry;
}

export interface CompactionStartEvent {
  type: 'compaction_start';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  reason: 'manual' | 'threshold' | 'overflow';
}

export interface CompactionEndEvent {
  type: 'compaction_end';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  reason: 'manual' | 'threshold' | 'overflow';
  result: CompactionResult | null;
  aborted: boolean;
  willRetry: boolean;
  errorMessage?: string | undefined;
}

export interface AutoCompactionStartEvent {
  type: 'auto_compaction_start';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  reason: 'threshold' | 'overflow';
}

export interface AutoCompactionEndEvent {
  type: 'auto_compaction_end';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  result: CompactionResult | null;
  aborted: boolean;
  willRetry: boolean;
  errorMessage?: string | undefined;
}

export interface AutoRetryStartEvent {
  type: 'auto_retry_start';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  errorMessage: string;
}

export interface AutoRetryEndEvent {
  type: 'auto_retry_end';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  success: boolean;
  attempt: number;
  finalError?: string | undefined;
}

export interface BashExecutionUpdateEvent {
  type: 'bash_execution_update';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  id?: unknown | undefined;
  delta: string;
}

export interface TtsrTriggeredEvent {
  type: 'ttsr_triggered';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  rules: (Record<string, unknown>)[];
}

export interface TodoReminderEvent {
  type: 'todo_reminder';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  todos: (Record<string, unknown>)[];
  attempt: number;
  maxAttempts: number;
}

export interface McpStatusEvent {
  type: 'mcp_status';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  server: McpServerStatus;
}

export interface TodoAutoClearEvent {
  type: 'todo_auto_clear';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
}

export interface ExtensionErrorEvent {
  type: 'extension_error';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  extensionPath: string;
  event: string;
  error: string;
}

export interface HookErrorEvent {
  type: 'hook_error';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  hookPath: string;
  event: string;
  error: string;
}

export type ExtensionUiRequestEvent = {
  type: 'extension_ui_request';
  id: string;
  method: 'select';
  title: string;
  options: string[];
  /** Milliseconds until the agent takes the default. */
  timeout?: number | undefined;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'confirm';
  title: string;
  message: string;
  /** Milliseconds until the agent takes the default. */
  timeout?: number | undefined;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'input';
  title: string;
  placeholder?: string | undefined;
  /** Milliseconds until the agent takes the default. */
  timeout?: number | undefined;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'editor';
  title: string;
  prefill?: string | undefined;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'notify';
  message: string;
  notifyType?: 'info' | 'warning' | 'error' | undefined;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'setStatus';
  statusKey: string;
  statusText?: string | undefined;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'setWidget';
  widgetKey: string;
  widgetLines?: string[] | undefined;
  widgetPlacement?: 'aboveEditor' | 'belowEditor' | undefined;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'setTitle';
  title: string;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
} | {
  type: 'extension_ui_request';
  id: string;
  method: 'set_editor_text';
  text: string;
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
};

export interface ExtensionUiResolvedEvent {
  type: 'extension_ui_resolved';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  id: string;
  by?: string | undefined;
}

export interface HostToolCallEvent {
  type: 'host_tool_call';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  id: string;
  toolCallId: string;
  toolName: string;
  arguments: Record<string, unknown>;
}

export interface HostToolCancelEvent {
  type: 'host_tool_cancel';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  id: string;
  targetId: string;
}

export interface ServerConnectedEvent {
  type: 'server_connected';
  /** What follows with a greater `seq` is new. */
  seq: number;
  sessionFile: string | null;
  sessionId: string;
  /** What `seq` counts in: send both again to resume. */
  epoch: string;
  /** Whether what was missed follows, or a snapshot instead. */
  resume?: 'ok' | 'gap' | undefined;
  /** Send `ping` this often; the server does the same with WebSocket pings. */
  pingMs: number;
}

export interface ServerDisconnectedEvent {
  type: 'server_disconnected';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  reason: 'error' | 'close' | 'timeout';
  message?: string | undefined;
  /** The code that the connection is closed with. */
  code?: number | undefined;
  /** When the server expects to be there again. */
  retryAfterMs?: number | undefined;
}

export interface ServerErrorEvent {
  type: 'server_error';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  error: string;
  /** One of the error codes. */
  code?: string | undefined;
}

export interface StateSyncedEvent {
  type: 'state_synced';
  /** Only on a WebSocket, on what belongs to the session. */
  seq?: number | undefined;
  state: SessionState;
  messages: AgentMessage[];
  /** Of the page before these messages: `get_messages_page` with `from` = `end`. */
  cursor?: string | undefined;
}

export interface ExtensionUiResponse {
  type: 'extension_ui_response';
  id: string;
  value?: string | undefined;
  confirmed?: boolean | undefined;
  cancelled?: boolean | undefined;
}

export interface HostToolUpdate {
  type: 'host_tool_update';
  id: string;
  partialResult: ToolOutput;
}

export interface ToolOutput {
  content: ContentBlock[];
  details?: unknown | undefined;
}

export interface HostToolResult {
  type: 'host_tool_result';
  id: string;
  result: ToolOutput;
  isError?: boolean | undefined;
}

/** Every command with what it takes and answers. */
export interface CommandMap {
  /** Send a user message. Answered once it is stored, queued or handled; what happens next arrives as events. */
  prompt: {
    params: {
      message: string;
      images?: ImageInput[] | undefined;
      /** Required while a run is active. */
      streamingBehavior?: 'steer' | 'followUp' | undefined;
      /** Makes the message safe to send again: it is stored and acted on once. */
      clientMessageId?: string | undefined;
      limits?: Limits | undefined;
      /** Whether built-in slash commands are run in this message; as `hello` said unless given. */
      builtins?: boolean | undefined;
    };
    result: Accepted;
  };
  /** Queue a message for delivery before the next model call of the run; opens a run when idle. */
  steer: {
    params: {
      message: string;
      images?: ImageInput[] | undefined;
      /** Makes the message safe to send again: it is stored and acted on once. */
      clientMessageId?: string | undefined;
    };
    result: Accepted;
  };
  /** Queue a message for delivery when the run would end; opens a run when idle. */
  follow_up: {
    params: {
      message: string;
      images?: ImageInput[] | undefined;
      /** Makes the message safe to send again: it is stored and acted on once. */
      clientMessageId?: string | undefined;
    };
    result: Accepted;
  };
  /** Stop the run. Answered when everything has stopped; succeeds when idle. Queued messages are kept and join the next run; a message that still waits to be accepted is refused. */
  abort: {
    params: {
      /** Drop the queued messages too. */
      clearQueue?: boolean | undefined;
    };
    result: undefined;
  };
  /** Stop the run and start another one with this message, before anything queued. */
  abort_and_prompt: {
    params: {
      message: string;
      images?: ImageInput[] | undefined;
      /** Makes the message safe to send again: it is stored and acted on once. */
      clientMessageId?: string | undefined;
      limits?: Limits | undefined;
      /** Whether built-in slash commands are run in this message; as `hello` said unless given. */
      builtins?: boolean | undefined;
    };
    result: Accepted;
  };
  /** Answered when no run is active, at once if none is. */
  wait_idle: {
    params: Record<never, never>;
    result: {
      isIdle: boolean;
      /** The run that ended last. */
      runId?: string | undefined;
      outcome?: string | undefined;
    };
  };
  /** Deliver steering messages one per turn, or all at once. */
  set_steering_mode: {
    params: {
      mode: QueueMode;
      /** Make it the default of new sessions too, in the user's settings.json. */
      persist?: boolean | undefined;
    };
    result: undefined;
  };
  /** Deliver follow-up messages one at a time, or all at once. */
  set_follow_up_mode: {
    params: {
      mode: QueueMode;
      /** Make it the default of new sessions too, in the user's settings.json. */
      persist?: boolean | undefined;
    };
    result: undefined;
  };
  /** Let steering wait for the tools of the turn, or skip those not started yet. */
  set_interrupt_mode: {
    params: {
      mode: InterruptMode;
      /** Make it the default of new sessions too, in the user's settings.json. */
      persist?: boolean | undefined;
    };
    result: undefined;
  };
  /** Take every queued message back. */
  clear_queue: {
    params: Record<never, never>;
    result: {
      steering: string[];
      followUp: string[];
    };
  };
  /** Take one queued message back. */
  remove_queued: {
    params: {
      queueId: string;
    };
    result: {
      text: string;
    };
  };
  /** Change the text of a queued message, which keeps its place. */
  edit_queued: {
    params: {
      queueId: string;
      message: string;
    };
    result: undefined;
  };
  /** Tell what this client wants; answers the protocol number, the capabilities in force and the limits. */
  hello: {
    params: {
      client?: {
        name: string;
        version?: string | undefined;
      } | undefined;
      stream?: 'cumulative' | 'delta' | undefined;
      /** False: no events under their older names. */
      legacyNames?: boolean | undefined;
      /** True: built-in slash commands are listed and run. */
      builtins?: boolean | undefined;
      /** True: every session entry is sent as `entry_appended`. */
      entries?: boolean | undefined;
      /** The dialog methods this client can show. */
      ui?: string[] | undefined;
      /** Send `heartbeat` this often; 0 = never. */
      heartbeatMs?: number | undefined;
    };
    result: {
      protocol: number;
      server: {
        name: string;
        version: string;
      };
      capabilities: {
        stream: 'cumulative' | 'delta';
        legacyNames: boolean;
        builtins: boolean;
        entries: boolean;
        ui?: string[] | undefined;
        heartbeatMs: number;
      };
      limits: {
        maxLineBytes: number;
        maxQueuedMessages: number;
      };
    };
  };
  /** Answered at once, whatever the agent does: the connection is alive. */
  ping: {
    params: Record<never, never>;
    result: undefined;
  };
  /** Start an empty session. A run is stopped first. */
  new_session: {
    params: {
      /** Remembered in the new header; nothing is copied. */
      parentSession?: string | undefined;
      /** Make or check the target and answer it, but stay in this session. */
      detached?: boolean | undefined;
    };
    result: Moved;
  };
  /** Load another session file. A run is stopped first. */
  switch_session: {
    params: {
      sessionPath: string;
      /** Make or check the target and answer it, but stay in this session. */
      detached?: boolean | undefined;
    };
    result: Moved;
  };
  /** Copy the conversation before a user message into a new session and go there; answers the text of the message. */
  fork: {
    params: {
      entryId: string;
      /** Make or check the target and answer it, but stay in this session. */
      detached?: boolean | undefined;
    };
    result: Forked;
  };
  /** The xcsh name of `fork`. */
  branch: {
    params: {
      entryId: string;
      /** Make or check the target and answer it, but stay in this session. */
      detached?: boolean | undefined;
    };
    result: Forked;
  };
  /** Copy the active branch into a new session and go there. A run is stopped first. */
  clone: {
    params: {
      /** Make or check the target and answer it, but stay in this session. */
      detached?: boolean | undefined;
    };
    result: Moved;
  };
  /** The user messages of the active branch, each a place to fork at. */
  get_fork_messages: {
    params: Record<never, never>;
    result: ForkPoints;
  };
  /** The xcsh name of `get_fork_messages`. */
  get_branch_messages: {
    params: Record<never, never>;
    result: ForkPoints;
  };
  /** The state of the session. */
  get_state: {
    params: Record<never, never>;
    result: SessionState;
  };
  /** Every message of the conversation as the model sees it. */
  get_messages: {
    params: Record<never, never>;
    result: {
      messages: AgentMessage[];
    };
  };
  /** The messages of the conversation, a page at a time. Within a page the oldest is first. */
  get_messages_page: {
    params: {
      cursor?: string | undefined;
      limit?: number | undefined;
      /** Where the first page is; `start` unless given. */
      from?: 'start' | 'end' | undefined;
      /** True: what compactions have put a summary in the place of, instead. */
      replaced?: boolean | undefined;
    };
    result: {
      messages: AgentMessage[];
      nextCursor?: string | undefined;
      totalMessages: number;
    };
  };
  /** Entries of the session file in file order, all of them or those after one. */
  get_entries: {
    params: {
      /** Only entries after this one. */
      since?: string | undefined;
      /** At most so many. */
      limit?: number | undefined;
    };
    result: {
      entries: SessionEntry[];
      leafId: string | null;
      hasMore?: boolean | undefined;
    };
  };
  /** The whole session tree, nested as deep as the conversation is long; `get_entries` is flat. */
  get_tree: {
    params: Record<never, never>;
    result: {
      tree: TreeNode[];
      leafId: string | null;
    };
  };
  /** Continue from another entry of the tree. */
  navigate_tree: {
    params: {
      targetId: string;
      /** Put a summary of what is left behind into the branch that is gone to. */
      summarize?: boolean | undefined;
      /** For whoever writes the summary. */
      customInstructions?: string | undefined;
      /** They stand for the usual instructions instead of following them. */
      replaceInstructions?: boolean | undefined;
      /** A label for where the leaf comes to rest. */
      label?: string | undefined;
    };
    result: {
      cancelled: boolean;
      /** The text of the user message that was gone to: the leaf is before it. */
      editorText?: string | undefined;
      summaryEntryId?: string | undefined;
    };
  };
  /** The text of the last answer, null when there is none. */
  get_last_assistant_text: {
    params: Record<never, never>;
    result: {
      text: string | null;
    };
  };
  /** Give the session a name for listings. */
  set_session_name: {
    params: {
      name: string;
    };
    result: undefined;
  };
  /** Messages, tokens, cost and context use of the session. */
  get_session_stats: {
    params: Record<never, never>;
    result: SessionStats;
  };
  /** Stored sessions, the newest first. */
  list_sessions: {
    params: {
      cwd?: string | undefined;
      cursor?: string | undefined;
      limit?: number | undefined;
    };
    result: {
      sessions: SessionSummary[];
      nextCursor?: string | undefined;
    };
  };
  /** Move a stored session to the trash folder beside it. */
  delete_session: {
    params: {
      sessionPath: string;
    };
    result: {
      trashPath: string;
    };
  };
  /** Give a stored session another name for listings. */
  rename_session: {
    params: {
      sessionPath: string;
      name: string;
    };
    result: undefined;
  };
  /** Look at everything a prompt would need, without asking a model. */
  preflight: {
    params: Record<never, never>;
    result: Preflight;
  };
  /** Write the session as one HTML page. Of what is there already only a web page is replaced. */
  export_html: {
    params: {
      outputPath?: string | undefined;
    };
    result: {
      path: string;
      /** Where a remote client can fetch the page, once. */
      url?: string | undefined;
    };
  };
  /** Files and folders below the folder of the session whose paths contain the letters of a query in order, the nearest first. What git ignores is left out. */
  list_files: {
    params: {
      /** All, when it is missing or empty. */
      query?: string | undefined;
      /** At most so many; 50. */
      limit?: number | undefined;
    };
    result: {
      files: FileMatch[];
      hasMore: boolean;
    };
  };
  /** The slash commands that `prompt` understands. */
  get_commands: {
    params: {
      /** Whether to list built-in ones; as `hello` said unless given. */
      builtins?: boolean | undefined;
    };
    result: {
      commands: SlashCommand[];
    };
  };
  /** Trust the project folder, or stop trusting it: its settings apply only when it is trusted. */
  set_trust: {
    params: {
      trusted: boolean;
      /** False: for this process only. */
      remember?: boolean | undefined;
    };
    result: {
      projectTrusted: boolean;
    };
  };
  /** Use another model from the next model call on. */
  set_model: {
    params: {
      provider: string;
      modelId: string;
      /** Make it the default of new sessions too, in the user's settings.json. */
      persist?: boolean | undefined;
    };
    result: Model;
  };
  /** Use the next available model; null when there is only one. */
  cycle_model: {
    params: Record<never, never>;
    result: {
      model: Model;
      thinkingLevel: ThinkingLevel;
      isScoped: boolean;
    } | null;
  };
  /** Every model that can be used now. */
  get_available_models: {
    params: {
      /** Also the built-in models where there are others; they come last. */
      builtins?: boolean | undefined;
    };
    result: {
      models: Model[];
    };
  };
  /** Set how much the model thinks. A level it lacks becomes the nearest it has, upwards first. */
  set_thinking_level: {
    params: {
      level: ThinkingLevelInput;
      /** Make it the default of new sessions too, in the user's settings.json. */
      persist?: boolean | undefined;
    };
    result: undefined;
  };
  /** Store a key for a provider in auth.json; its models can be used at once. */
  set_credential: {
    params: {
      provider: string;
      apiKey: string;
    };
    result: {
      provider: string;
      /** How many of its models can be used now. */
      models: number;
    };
  };
  /** Remove the key of a provider from auth.json. One from elsewhere stays, and is used from then on. */
  remove_credential: {
    params: {
      provider: string;
    };
    result: {
      provider: string;
      /** How many of its models can still be used. */
      models: number;
    };
  };
  /** The providers that a key can be stored for, those that are usually meant first. Tells no key. */
  list_providers: {
    params: Record<never, never>;
    result: {
      providers: ({
        id: string;
        /** How many models of it are known. */
        models: number;
        /** There is a key for it. */
        configured: boolean;
        /** A key for it is in auth.json, and can be removed. */
        stored: boolean;
      })[];
    };
  };
  /** Use the next thinking level; null when the model does not think. */
  cycle_thinking_level: {
    params: Record<never, never>;
    result: {
      level: ThinkingLevel;
    } | null;
  };
  /** The thinking levels of the current model. */
  get_available_thinking_levels: {
    params: Record<never, never>;
    result: {
      levels: ThinkingLevel[];
    };
  };
  /** Replace the older part of the conversation by a summary. */
  compact: {
    params: {
      customInstructions?: string | undefined;
    };
    result: CompactionResult;
  };
  /** Compact by itself when the context is nearly full, or not. */
  set_auto_compaction: {
    params: {
      enabled: boolean;
      /** Make it the default of new sessions too, in the user's settings.json. */
      persist?: boolean | undefined;
    };
    result: undefined;
  };
  /** Retry by itself after transient model failures, or not. */
  set_auto_retry: {
    params: {
      enabled: boolean;
      /** Make it the default of new sessions too, in the user's settings.json. */
      persist?: boolean | undefined;
    };
    result: undefined;
  };
  /** Give up a retry that is waiting. */
  abort_retry: {
    params: Record<never, never>;
    result: undefined;
  };
  /** Run a shell command and put its output into the conversation. */
  bash: {
    params: {
      command: string;
      excludeFromContext?: boolean | undefined;
    };
    result: BashResult;
  };
  /** Kill the shell commands that `bash` started. */
  abort_bash: {
    params: Record<never, never>;
    result: undefined;
  };
  /** Every tool there is, and whether the model is offered it. */
  get_tools: {
    params: Record<never, never>;
    result: {
      tools: ToolInfo[];
    };
  };
  /** Offer the model these tools and no others, from its next call on. */
  set_active_tools: {
    params: {
      tools: string[];
    };
    result: {
      activeTools: string[];
    };
  };
  /** Replace the tools that this client runs for the agent. */
  set_host_tools: {
    params: {
      tools: HostTool[];
    };
    result: {
      toolNames: string[];
    };
  };
  /** Replace the MCP servers that clients have added to this session. Answered when each of them is connected or has failed. */
  set_mcp_servers: {
    params: {
      /** Name to McpServer. */
      servers: Record<string, unknown>;
    };
    result: {
      servers: McpServerStatus[];
    };
  };
  /** Replace the todo list. */
  set_todos: {
    params: {
      phases: TodoPhase[];
    };
    result: {
      todoPhases: TodoPhase[];
    };
  };
}

export type CommandName = keyof CommandMap;
export type Params<C extends CommandName> = CommandMap[C]['params'];
export type Result<C extends CommandName> = CommandMap[C]['result'];

/** Every record tau sends that is no answer. */
export interface EventMap {
  agent_start: AgentStartEvent;
  agent_end: AgentEndEvent;
  agent_settled: AgentSettledEvent;
  turn_start: TurnStartEvent;
  turn_end: TurnEndEvent;
  message_start: MessageStartEvent;
  message_update: MessageUpdateEvent;
  message_end: MessageEndEvent;
  tool_execution_start: ToolExecutionStartEvent;
  tool_execution_update: ToolExecutionUpdateEvent;
  tool_execution_end: ToolExecutionEndEvent;
  heartbeat: HeartbeatEvent;
  ready: ReadyEvent;
  queue_update: QueueUpdateEvent;
  state_changed: StateChangedEvent;
  session_info_changed: SessionInfoChangedEvent;
  thinking_level_changed: ThinkingLevelChangedEvent;
  session_repaired: SessionRepairedEvent;
  entry_appended: EntryAppendedEvent;
  compaction_start: CompactionStartEvent;
  compaction_end: CompactionEndEvent;
  auto_compaction_start: AutoCompactionStartEvent;
  auto_compaction_end: AutoCompactionEndEvent;
  auto_retry_start: AutoRetryStartEvent;
  auto_retry_end: AutoRetryEndEvent;
  bash_execution_update: BashExecutionUpdateEvent;
  ttsr_triggered: TtsrTriggeredEvent;
  todo_reminder: TodoReminderEvent;
  mcp_status: McpStatusEvent;
  todo_auto_clear: TodoAutoClearEvent;
  extension_error: ExtensionErrorEvent;
  hook_error: HookErrorEvent;
  extension_ui_request: ExtensionUiRequestEvent;
  extension_ui_resolved: ExtensionUiResolvedEvent;
  host_tool_call: HostToolCallEvent;
  host_tool_cancel: HostToolCancelEvent;
  server_connected: ServerConnectedEvent;
  server_disconnected: ServerDisconnectedEvent;
  server_error: ServerErrorEvent;
  state_synced: StateSyncedEvent;
}

export type EventName = keyof EventMap;
export type AgentEvent = EventMap[EventName];

/** What a client sends that is no command. */
export interface FrameMap {
  extension_ui_response: ExtensionUiResponse;
  host_tool_update: HostToolUpdate;
  host_tool_result: HostToolResult;
}

export type FrameName = keyof FrameMap;
export type Frame = FrameMap[FrameName];
