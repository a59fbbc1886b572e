import type { SystemMessage } from '../../model/registry/provider-config.ts';
import type {
  AgentMessage,
  AssistantMessage,
  AssistantMessageEvent,
  BashResult,
  BranchSummaryEntry,
  CompactionEntry,
  ContentBlock,
  ImageContent,
  Model,
  SessionEntry,
  ThinkingLevel,
  ToolResultMessage,
  Usage,
} from '../../protocol/generated/vocabulary.ts';
import type { ContextReplacement } from '../../session/transcript.ts';
import type { ExtensionMcpServer } from '../mcp/extension-servers.ts';
import type { BashOperations } from './api/bash-backend.ts';
import type { BoundaryContext } from './hooks/boundary.ts';

/** An entry that a handler adds to the session. */
export type ExtensionEntryDraft =
  | { type: 'custom'; customType: string; data?: unknown }
  | {
      type: 'custom_message';
      customType: string;
      content: string | ContentBlock[];
      display: boolean;
      details?: unknown;
    }
  | { type: 'context_edit'; targetId: string; replacement: ContextReplacement | null }
  /** With null, no entry before the compaction is kept. */
  | { type: 'compaction'; summary: string; firstKeptEntryId: string | null; details?: unknown; usage?: Usage };

type ActivityOutcome = 'completed' | 'aborted' | 'error';

/** A point of a run at which handlers add entries. */
interface Boundary {
  outcome: ActivityOutcome;
  /** The drafts of the handlers so far; a returned list replaces it. */
  entries: ExtensionEntryDraft[];
  continue: boolean;
  readonly context: BoundaryContext;
}

/** The result of a `turn_end` or `agent_before_settle` handler. */
export interface BoundaryResult {
  entries?: ExtensionEntryDraft[];
  continue?: boolean;
}

export interface CustomMessageDraft {
  customType: string;
  content: string | ContentBlock[];
  display: boolean;
  details?: unknown;
}

/** The parts of the system prompt; a `before_agent_start` handler may change them in place. */
export interface SystemPromptOptions {
  cwd: string;
  /** Replaces the default prompt. */
  customPrompt?: string | undefined;
  /** Replaces the whole prompt. */
  forceSystemPrompt?: string | undefined;
  appendSystemPrompt: string;
  selectedTools: string[];
  /** Tools that the prompt does not list. */
  hiddenTools: string[];
  toolSnippets: Record<string, string>;
  toolGuidelines: Record<string, string[]>;
  /** Advice beside that of the tools. */
  promptGuidelines: string[];
  contextFiles: { path: string; content: string }[];
  skills: { name: string; description: string; filePath: string }[];
  /** Sections appended to the prompt under their names. */
  sections: Record<string, string>;
}

type SessionSwitch = { reason: 'new' | 'resume'; targetSessionFile?: string | undefined };
type CompactReason = 'manual' | 'threshold' | 'overflow';

/** A dialog that waits for a person. */
interface UiPrompt {
  reason: 'ui_prompt';
  kind: 'select' | 'confirm' | 'input' | 'editor';
  title?: string | undefined;
}

/** A tool call; one that a tool made names the call of that tool. */
interface NamedCall {
  toolCallId: string;
  toolName: string;
  parentToolCallId?: string | undefined;
}

/** Each event with its fields and the result that a handler may return. */
export interface ExtensionEvents {
  resources_discover: [
    { cwd: string; reason: 'startup' | 'reload' },
    { skillPaths?: string[]; promptPaths?: string[]; themePaths?: string[] },
  ];
  session_directory: [{ cwd: string }, { sessionDir?: string }];
  project_trust: [{ cwd: string }, { trusted: 'yes' | 'no' | 'undecided'; remember?: boolean }];
  session_start: [
    { reason: 'startup' | 'reload' | 'new' | 'resume' | 'fork'; previousSessionFile?: string | undefined },
  ];
  session_switch: [{ reason: 'new' | 'resume'; previousSessionFile?: string | undefined }];
  session_fork: [{ previousSessionFile?: string | undefined }];
  session_shutdown: [{ reason: 'quit' | 'reload' | 'new' | 'resume' | 'fork'; targetSessionFile?: string | undefined }];
  session_before_switch: [SessionSwitch, { cancel?: boolean }];
  session_before_fork: [
    { entryId: string; position: 'before' | 'at' },
    { cancel?: boolean; skipConversationRestore?: boolean },
  ];
  session_before_compact: [
    {
      preparation: { firstKeptEntryId: string; tokensBefore: number } & Record<string, unknown>;
      branchEntries: SessionEntry[];
      customInstructions?: string | undefined;
      reason: CompactReason;
      willRetry: boolean;
      signal: AbortSignal;
    },
    {
      cancel?: boolean;
      compaction?: { summary: string; firstKeptEntryId: string; tokensBefore: number; details?: unknown };
    },
  ];
  session_compact: [
    { compactionEntry: CompactionEntry; fromExtension: boolean; reason: CompactReason; willRetry: boolean },
  ];
  session_compact_failed: [
    {
      reason: CompactReason;
      errorMessage?: string | undefined;
      aborted: boolean;
      willRetry: boolean;
      fromExtension: boolean;
    },
  ];
  session_before_tree: [
    { preparation: { targetId: string; oldLeafId: string | null } & Record<string, unknown>; signal: AbortSignal },
    {
      cancel?: boolean;
      summary?: { summary: string; details?: unknown };
      customInstructions?: string;
      replaceInstructions?: boolean;
      label?: string;
    },
  ];
  session_tree: [
    {
      newLeafId: string | null;
      oldLeafId: string | null;
      summaryEntry?: BranchSummaryEntry | undefined;
      fromExtension: boolean;
    },
  ];
  session_info_changed: [{ name: string | undefined }];
  context: [{ messages: AgentMessage[] }, { messages?: AgentMessage[] }];
  context_with_system: [
    { messages: (AgentMessage | SystemMessage)[] },
    { messages?: (AgentMessage | SystemMessage)[] },
  ];
  before_provider_headers: [{ headers: Record<string, string | null> }];
  before_provider_request: [{ payload: unknown }, unknown];
  after_provider_response: [{ status: number; headers: Record<string, string> }];
  provider_stream_event: [{ provider: string; api: string; model: string; data: unknown }];
  before_agent_start: [
    {
      prompt: string;
      images?: ImageContent[] | undefined;
      /** The prompt with the changes of the handlers so far. */
      readonly systemPrompt: string;
      systemPromptOptions: SystemPromptOptions;
      messageType: 'user' | 'custom';
      message?: AgentMessage | undefined;
    },
    { message?: CustomMessageDraft; systemPrompt?: string },
  ];
  agent_start: [object];
  agent_end: [{ messages: AgentMessage[] }];
  agent_before_settle: [Boundary, BoundaryResult];
  mcp_servers_change: [{ servers: ExtensionMcpServer[] }];
  ui_prompt_start: [UiPrompt];
  ui_prompt_end: [UiPrompt];
  agent_settled: [{ aborted: boolean; outcome: string; runId: string }];
  turn_start: [{ turnIndex: number; timestamp: number }];
  turn_end: [
    Boundary & {
      turnIndex: number;
      message: AssistantMessage;
      toolResults: ToolResultMessage[];
      messageEntryId: string;
      toolResultEntryIds: string[];
    },
    BoundaryResult,
  ];
  message_start: [{ message: AgentMessage }];
  message_update: [
    { message: AssistantMessage; assistantMessageEvent: AssistantMessageEvent & { partial: AssistantMessage } },
  ];
  message_end: [{ message: AgentMessage }, { message?: AgentMessage }];
  tool_execution_start: [NamedCall & { args: unknown }];
  tool_execution_update: [NamedCall & { args: unknown; partialResult: unknown }];
  tool_execution_end: [NamedCall & { result: unknown; isError: boolean; durationMs?: number | undefined }];
  tool_call: [
    NamedCall & { input: Record<string, unknown> },
    /** `terminate` ends the run after the batch if every result of the batch has it. */
    { block?: boolean; reason?: string; terminate?: boolean },
  ];
  tool_result: [
    NamedCall & {
      input: Record<string, unknown>;
      content: ContentBlock[];
      details: unknown;
      structuredContent?: unknown;
      usage?: Usage | undefined;
      isError: boolean;
    },
    { content?: ContentBlock[]; details?: unknown; structuredContent?: unknown; usage?: Usage; isError?: boolean },
  ];
  user_bash: [
    { command: string; excludeFromContext: boolean; cwd: string },
    { operations?: BashOperations; result?: BashResult },
  ];
  input: [
    {
      text: string;
      images?: ImageContent[] | undefined;
      source: 'interactive' | 'rpc' | 'extension';
      streamingBehavior?: 'steer' | 'followUp' | undefined;
    },
    { action: 'continue' } | { action: 'transform'; text: string; images?: ImageContent[] } | { action: 'handled' },
  ];
  model_select: [{ model: Model; previousModel: Model | undefined; source: 'set' | 'cycle' | 'restore' }];
  thinking_level_select: [{ level: ThinkingLevel; previousLevel: ThinkingLevel }];
}

export type EventName = keyof ExtensionEvents;
export type ExtensionEvent<E extends EventName> = ExtensionEvents[E][0] & { type: E };
export type HandlerResult<E extends EventName> = ExtensionEvents[E] extends [unknown, infer R] ? R : undefined;
