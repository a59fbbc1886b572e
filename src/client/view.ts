import type {
  AgentEvent,
  AgentMessage,
  AgentSettledEvent,
  AssistantMessage,
  AutoRetryStartEvent,
  McpServerStatus,
  QueuedItem,
  ServerConnectedEvent,
  SessionState,
  ToolProgress,
} from '../protocol/generated/vocabulary.ts';
import { applyStep } from '../wire/assistant-message.ts';
import { type Known, merged, nothingKnown } from './earlier.ts';
import { replaced } from './replaced.ts';
import { nothingShown, notice, type Shown, show } from './shown.ts';

/** A tool that runs now. */
export interface RunningTool {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly progress: ToolProgress | undefined;
}

/** A failed model call that is about to be repeated. */
export type Retry = Readonly<Pick<AutoRetryStartEvent, 'attempt' | 'maxAttempts' | 'delayMs' | 'errorMessage'>>;

/** What the view tells by itself, event by event; in a state it is true for a moment only. */
const MOMENTARY = [
  'isStreaming',
  'isIdle',
  'isCompacting',
  'messageCount',
  'pendingMessageCount',
  'queuedMessageCount',
  'queuedMessages',
  'pendingUi',
  'runId',
] as const;

/** The state of a session without what changes from event to event. */
export type LastingState = Omit<SessionState, (typeof MOMENTARY)[number]>;

/**
 * What a screen shows: a pure function of a snapshot and the events after it. Only what was read before the messages of
 * the snapshot is a reader's own.
 */
export interface View extends Shown, Known {
  /** The answer that is streaming. */
  readonly answer: AssistantMessage | undefined;
  readonly tools: readonly RunningTool[];
  readonly queue: readonly QueuedItem[];
  readonly running: boolean;
  readonly compacting: boolean;
  readonly retry: Retry | undefined;
  readonly state: Partial<LastingState>;
}

export const emptyView: View = {
  ...nothingShown,
  ...nothingKnown,
  answer: undefined,
  tools: [],
  queue: [],
  running: false,
  compacting: false,
  retry: undefined,
  state: {},
};

/** The view after one more event. Events it knows nothing to show for leave it as it is. */
export function reduce(view: View, event: AgentEvent): View {
  switch (event.type) {
    case 'agent_start':
      return { ...view, running: true };
    case 'agent_settled':
      return { ...settled(view, event), ...atRest };
    case 'message_start':
      return event.message.role === 'assistant' ? { ...view, answer: event.message } : view;
    case 'message_update':
      return view.answer ? { ...view, answer: applyStep(view.answer, event.assistantMessageEvent) } : view;
    case 'message_end':
      return { ...view, messages: [...view.messages, event.message], answer: undefined };
    case 'tool_execution_start': {
      const { toolCallId, toolName, args } = event;
      return {
        ...view,
        tools: [...withoutTool(view, toolCallId), { toolCallId, toolName, args, progress: undefined }],
      };
    }
    case 'tool_execution_update':
      return { ...view, tools: view.tools.map((tool) => progressed(tool, event)) };
    case 'tool_execution_end':
      return { ...view, tools: withoutTool(view, event.toolCallId) };
    case 'auto_retry_start': {
      const { attempt, maxAttempts, delayMs, errorMessage } = event;
      return { ...withoutFailed(view), retry: { attempt, maxAttempts, delayMs, errorMessage } };
    }
    case 'auto_retry_end':
      return { ...view, retry: undefined };
    case 'compaction_start':
      return { ...(event.reason === 'overflow' ? withoutFailed(view) : view), compacting: true };
    case 'compaction_end':
      return { ...view, compacting: false };
    case 'queue_update':
      return { ...view, queue: event.items };
    case 'state_changed':
      return changed(view, event.state);
    case 'mcp_status':
      return { ...view, state: { ...view.state, mcpServers: servers(view.state.mcpServers ?? [], event.server) } };
    case 'server_connected':
      return connected(view, event);
    case 'state_synced':
      return synced(view, event);
    default:
      return show(view, event);
  }
}

/** What is true when nothing runs. */
const atRest = { running: false, answer: undefined, tools: [], retry: undefined } as const;

/** An answer that is asked for again is no part of the conversation. */
function withoutFailed(view: View): View {
  const last = view.messages.at(-1);
  return last && isFailed(last) ? { ...view, messages: view.messages.slice(0, -1) } : view;
}

const isFailed = (message: AgentMessage) => message.role === 'assistant' && message.stopReason === 'error';

/** Why a run has failed is told where the conversation does not say it: its answer was to be asked for again. */
function settled(view: View, { outcome, errorMessage }: AgentSettledEvent): View {
  if (outcome !== 'error' || !errorMessage || !view.running) return view;
  const question = view.messages.findLastIndex(({ role }) => role === 'user');
  return view.messages.slice(question + 1).some(isFailed) ? view : notice(view, { kind: 'error', text: errorMessage });
}

/** A field that went away is told as null; only a model can be null. What was said belongs to the session it was said in. */
function changed(view: View, news: Readonly<Record<string, unknown>>): View {
  const fields = Object.entries({ ...view.state, ...news }).filter(
    ([name, value]) => value !== null || name === 'model',
  );
  const state = lasting(Object.fromEntries(fields));
  const queue = (news['queuedMessages'] as QueuedItem[] | undefined) ?? view.queue;
  if (!Object.hasOwn(news, 'sessionId')) return { ...view, state, queue };
  return { ...view, ...atRest, state, queue, ...nothingKnown };
}

/** A snapshot that follows tells anew what is under way; what was said stays until then, unless it is another session. */
function connected(view: View, { sessionId, resume }: ServerConnectedEvent): View {
  if (resume === 'ok') return view;
  if (view.state.sessionId !== sessionId) return { ...emptyView, state: { sessionId } };
  return { ...view, ...atRest, dialogs: [], statuses: [], widgets: [], title: undefined };
}

function synced(view: View, { state, messages, cursor }: Extract<AgentEvent, { type: 'state_synced' }>): View {
  return {
    ...view,
    ...(state.isStreaming ? { running: true } : atRest),
    compacting: state.isCompacting,
    queue: state.queuedMessages,
    state: lasting(state),
    ...merged(view, { messages, cursor }),
  };
}

/** One that was closed is no longer there. */
const servers = (before: readonly McpServerStatus[], server: McpServerStatus): McpServerStatus[] =>
  replaced(before, server.status === 'closed' ? undefined : server, ({ name }) => name === server.name);

const lasting = (state: Partial<SessionState>): Partial<LastingState> =>
  Object.fromEntries(Object.entries(state).filter(([name]) => !(MOMENTARY as readonly string[]).includes(name)));

const withoutTool = ({ tools }: View, id: string) => tools.filter(({ toolCallId }) => toolCallId !== id);

const progressed = (tool: RunningTool, event: { toolCallId: string; partialResult: ToolProgress }): RunningTool =>
  tool.toolCallId === event.toolCallId ? { ...tool, progress: event.partialResult } : tool;
