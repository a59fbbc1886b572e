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
} from '../../protocol/generated/vocabulary.ts';
import type { BashOperations } from './api/bash-backend.ts';

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
  | { type: 'context_edit'; targetId: string; replacement: AgentMessage | null };

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

export interface SystemPromptOptions {
  cwd: string;
  customPrompt?: string | undefined;
  appendSystemPrompt?: string | undefined;
  selectedTools: string[];
  toolSnippets: Record<string, string>;
  promptGuidelines: string[];
  contextFiles: { path: string; content: string }[];
  skills: { name: string; description: string; filePath: string }[];
  /** Sections appended to the prompt under their names; a handler may add to them. */
  sections: Record<string, string>;
}

type SessionSwitch = { reason: 'new' | 'resume'; targetSessionFile?: string | undefined };
type CompactReason = 'manual' | 'threshold' | 'overflow';

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
  before_provider_request: [{ payload: unknown }, unknown];
  before_agent_start: [
    {
      prompt: string;
      images?: ImageContent[] | undefined;
      systemPrompt: string;
      systemPromptOptions: SystemPromptOptions;
      messageType: 'user' | 'custom';
      message?: AgentMessage | undefined;
    },
    { message?: CustomMessageDraft; systemPrompt?: string },
  ];
  agent_start: [object];
  agent_end: [{ messages: AgentMessage[] }];
  agent_before_settle: [
    { outcome: 'completed' | 'aborted' | 'error'; entries: ExtensionEntryDraft[]; continue: boolean },
    BoundaryResult,
  ];
  agent_settled: [{ aborted: boolean; outcome: string; runId: string }];
  turn_start: [{ turnIndex: number; timestamp: number }];
  turn_end: [
    {
      turnIndex: number;
      message: AssistantMessage;
      toolResults: ToolResultMessage[];
      entries: ExtensionEntryDraft[];
      continue: boolean;
    },
    BoundaryResult,
  ];
  message_start: [{ message: AgentMessage }];
  message_update: [
    { message: AssistantMessage; assistantMessageEvent: AssistantMessageEvent & { partial: AssistantMessage } },
  ];
  message_end: [{ message: AgentMessage }, { message?: AgentMessage }];
  tool_execution_start: [{ toolCallId: string; toolName: string; args: unknown }];
  tool_execution_update: [{ toolCallId: string; toolName: string; args: unknown; partialResult: unknown }];
  tool_execution_end: [{ toolCallId: string; toolName: string; result: unknown; isError: boolean }];
  tool_call: [
    { toolName: string; toolCallId: string; input: Record<string, unknown> },
    { block?: boolean; reason?: string },
  ];
  tool_result: [
    {
      toolName: string;
      toolCallId: string;
      input: Record<string, unknown>;
      content: ContentBlock[];
      details: unknown;
      isError: boolean;
    },
    { content?: ContentBlock[]; details?: unknown; isError?: boolean },
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
