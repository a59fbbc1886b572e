import type {
  EventName,
  ExtensionEntryDraft,
  HandlerResult,
  ExtensionEvent as NamedEvent,
} from '../../extend/extensions/events.ts';
import type { ExtensionContext } from '../../extend/extensions/extension-api.ts';
import type { BuiltinToolCall } from '../../extend/extensions/tool-inputs.ts';

export type { BoundaryResult } from '../../extend/extensions/events.ts';
export type { BoundaryContext as BoundaryContextPreview } from '../../extend/extensions/hooks/boundary.ts';

type AnyEvent = { [E in EventName]: NamedEvent<E> }[EventName];

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that has nothing to answer need not return
type HandlerOf<E, R = undefined> = (event: E, ctx: ExtensionContext) => Promise<R | void> | R | void;

export type { AnyEvent as ExtensionEvent, HandlerOf as ExtensionHandler };

/** Pi's names of the events of extensions, of their results and of the parts of both. */
export type ResourcesDiscoverEvent = NamedEvent<'resources_discover'>;
export type McpServersChangeEvent = NamedEvent<'mcp_servers_change'>;
export type SessionStartEvent = NamedEvent<'session_start'>;
export type SessionBeforeSwitchEvent = NamedEvent<'session_before_switch'>;
export type SessionBeforeForkEvent = NamedEvent<'session_before_fork'>;
export type SessionBeforeCompactEvent = NamedEvent<'session_before_compact'>;
export type SessionCompactEvent = NamedEvent<'session_compact'>;
export type SessionCompactFailedEvent = NamedEvent<'session_compact_failed'>;
export type SessionShutdownEvent = NamedEvent<'session_shutdown'>;
export type SessionBeforeTreeEvent = NamedEvent<'session_before_tree'>;
export type SessionTreeEvent = NamedEvent<'session_tree'>;
export type ContextEvent = NamedEvent<'context'>;
export type ContextWithSystemEvent = NamedEvent<'context_with_system'>;
export type BeforeProviderRequestEvent = NamedEvent<'before_provider_request'>;
export type BeforeProviderHeadersEvent = NamedEvent<'before_provider_headers'>;
export type AfterProviderResponseEvent = NamedEvent<'after_provider_response'>;
export type ProviderStreamEvent = NamedEvent<'provider_stream_event'>;
export type BeforeAgentStartEvent = NamedEvent<'before_agent_start'>;
export type AgentBeforeSettleEvent = NamedEvent<'agent_before_settle'>;
export type UIPromptStartEvent = NamedEvent<'ui_prompt_start'>;
export type UIPromptEndEvent = NamedEvent<'ui_prompt_end'>;
export type ModelSelectEvent = NamedEvent<'model_select'>;
export type ThinkingLevelSelectEvent = NamedEvent<'thinking_level_select'>;
export type UserBashEvent = NamedEvent<'user_bash'>;
export type InputEvent = NamedEvent<'input'>;
export type ToolCallEvent = NamedEvent<'tool_call'>;
export type ToolResultEvent = NamedEvent<'tool_result'>;
export type ProjectTrustEvent = NamedEvent<'project_trust'>;

export type ResourcesDiscoverResult = HandlerResult<'resources_discover'>;
export type SessionBeforeSwitchResult = HandlerResult<'session_before_switch'>;
export type SessionBeforeForkResult = HandlerResult<'session_before_fork'>;
export type SessionBeforeCompactResult = HandlerResult<'session_before_compact'>;
export type SessionBeforeTreeResult = HandlerResult<'session_before_tree'>;
export type ContextEventResult = HandlerResult<'context'>;
export type BeforeProviderRequestEventResult = HandlerResult<'before_provider_request'>;
export type BeforeAgentStartEventResult = HandlerResult<'before_agent_start'>;
export type AgentBeforeSettleEventResult = HandlerResult<'agent_before_settle'>;
export type TurnEndEventResult = HandlerResult<'turn_end'>;
export type MessageEndEventResult = HandlerResult<'message_end'>;
export type ToolCallEventResult = HandlerResult<'tool_call'>;
export type ToolResultEventResult = HandlerResult<'tool_result'>;
export type UserBashEventResult = HandlerResult<'user_bash'>;
export type InputEventResult = HandlerResult<'input'>;
export type ProjectTrustEventResult = HandlerResult<'project_trust'>;

export type BeforeAgentStartUserEvent = BeforeAgentStartEvent & { messageType: 'user' };
export type BeforeAgentStartCustomEvent = BeforeAgentStartEvent & { messageType: 'custom' };
export type AgentActivityOutcome = AgentBeforeSettleEvent['outcome'];
export type BoundaryState = Omit<AgentBeforeSettleEvent, 'type'>;
export type InputSource = InputEvent['source'];
export type ModelSelectSource = ModelSelectEvent['source'];
export type UIPromptKind = UIPromptStartEvent['kind'];
export type ProjectTrustEventDecision = ProjectTrustEventResult['trusted'];
export type ProjectTrustContext = Pick<ExtensionContext, 'cwd' | 'mode' | 'hasUI' | 'ui'>;
export type ProjectTrustHandler = (
  event: ProjectTrustEvent,
  ctx: ProjectTrustContext,
) => Promise<ProjectTrustEventResult> | ProjectTrustEventResult;

export type SessionBoundaryDraft = ExtensionEntryDraft;
export type CustomEntryDraft = Extract<ExtensionEntryDraft, { type: 'custom' }>;
export type CustomMessageEntryDraft = Extract<ExtensionEntryDraft, { type: 'custom_message' }>;
export type ContextEditEntryDraft = Extract<ExtensionEntryDraft, { type: 'context_edit' }>;
export type CompactionEntryDraft = Extract<ExtensionEntryDraft, { type: 'compaction' }>;

export type BashToolCallEvent = BuiltinToolCall<'bash'>;
export type PowerShellToolCallEvent = BuiltinToolCall<'powershell'>;
export type ReadToolCallEvent = BuiltinToolCall<'read'>;
export type EditToolCallEvent = BuiltinToolCall<'edit'>;
export type WriteToolCallEvent = BuiltinToolCall<'write'>;
export type GrepToolCallEvent = BuiltinToolCall<'grep'>;
export type FindToolCallEvent = BuiltinToolCall<'find'>;
export type LsToolCallEvent = BuiltinToolCall<'ls'>;
export type CustomToolCallEvent = ToolCallEvent;
