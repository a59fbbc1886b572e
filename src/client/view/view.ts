import { idleRun, type LiveRun, reduceRun } from '../../fanout/live-run.ts';
import type {
  AgentEvent,
  AgentMessage,
  AgentSettledEvent,
  AssistantMessage,
  McpServerStatus,
  QueuedItem,
  ServerConnectedEvent,
  SessionState,
} from '../../protocol/generated/vocabulary.ts';
import { applyStep } from '../../wire/assistant-message.ts';
import { addNotice, emptyUi, reduceUi, type UiState } from './extension-ui.ts';
import { emptyHistory, type MessageHistory, mergeSnapshot } from './history.ts';
import { upsert } from './upsert.ts';

export type { PendingRetry, RunningTool } from '../../fanout/live-run.ts';

// Session state that the view follows by events; a state record holds it for one moment only.
const TRANSIENT_FIELDS = [
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

/** The session state without the fields that follow events. */
export type StableState = Omit<SessionState, (typeof TRANSIENT_FIELDS)[number]>;

/** The state of a client's screen: a pure function of a snapshot, the events after it and the loaded pages. */
export interface ConversationView extends UiState, MessageHistory, LiveRun {
  readonly streamingMessage: AssistantMessage | undefined;
  readonly queue: readonly QueuedItem[];
  readonly state: Partial<StableState>;
}

export const emptyView: ConversationView = {
  ...emptyUi,
  ...emptyHistory,
  ...idleRun,
  streamingMessage: undefined,
  queue: [],
  state: {},
};

/** Applies one event; unknown events return the same view. */
export function reduce(view: ConversationView, event: AgentEvent): ConversationView {
  switch (event.type) {
    case 'agent_settled':
      return { ...reduceRun(applySettled(view, event), event), streamingMessage: undefined };
    case 'message_start':
      return event.message.role === 'assistant' ? { ...view, streamingMessage: event.message } : view;
    case 'message_update':
      return view.streamingMessage
        ? { ...view, streamingMessage: applyStep(view.streamingMessage, event.assistantMessageEvent) }
        : view;
    case 'message_end':
      return { ...view, messages: [...view.messages, event.message], streamingMessage: undefined };
    case 'auto_retry_start':
      return reduceRun(withoutFailedMessage(view), event);
    case 'compaction_start':
      return reduceRun(event.reason === 'overflow' ? withoutFailedMessage(view) : view, event);
    case 'queue_update':
      return { ...view, queue: event.items };
    case 'state_changed':
      return applyStateChange(view, event.state);
    case 'mcp_status':
      return { ...view, state: { ...view.state, mcpServers: upsertServer(view.state.mcpServers ?? [], event.server) } };
    case 'server_connected':
      return applyConnected(view, event);
    case 'state_synced':
      return applySynced(view, event);
    default:
      return reduceUi(reduceRun(view, event), event);
  }
}

const idle = { running: false, streamingMessage: undefined, tools: [], retry: undefined } as const;

/** A failed message that will be repeated is not part of the conversation. */
function withoutFailedMessage(view: ConversationView): ConversationView {
  const last = view.messages.at(-1);
  return last && isFailed(last) ? { ...view, messages: view.messages.slice(0, -1) } : view;
}

const isFailed = (message: AgentMessage) => message.role === 'assistant' && message.stopReason === 'error';

/** Adds the error of a run as a notice if no message carries it, because a retry removed that message. */
function applySettled(view: ConversationView, { outcome, errorMessage }: AgentSettledEvent): ConversationView {
  if (outcome !== 'error' || !errorMessage || !view.running) return view;
  const promptAt = view.messages.findLastIndex(({ role }) => role === 'user');
  return view.messages.slice(promptAt + 1).some(isFailed)
    ? view
    : addNotice(view, { kind: 'error', text: errorMessage });
}

/** A removed field arrives as null; only `model` can be null. A new session id drops the messages. */
function applyStateChange(view: ConversationView, changes: Readonly<Record<string, unknown>>): ConversationView {
  const fields = Object.entries({ ...view.state, ...changes }).filter(
    ([name, value]) => value !== null || name === 'model',
  );
  const state = stableFields(Object.fromEntries(fields));
  const queue = (changes['queuedMessages'] as QueuedItem[] | undefined) ?? view.queue;
  if (!Object.hasOwn(changes, 'sessionId')) return { ...view, state, queue };
  return { ...view, ...idle, state, queue, ...emptyHistory };
}

/** A snapshot follows: drops what it will repeat, and the messages too if the session is another one. */
function applyConnected(view: ConversationView, { sessionId, resume }: ServerConnectedEvent): ConversationView {
  if (resume === 'ok') return view;
  if (view.state.sessionId !== sessionId) return { ...emptyView, state: { sessionId } };
  return { ...view, ...idle, dialogs: [], statuses: [], widgets: [], title: undefined };
}

function applySynced(
  view: ConversationView,
  { state, messages, cursor }: Extract<AgentEvent, { type: 'state_synced' }>,
): ConversationView {
  return {
    ...view,
    ...(state.isStreaming ? { running: true } : idle),
    compacting: state.isCompacting,
    queue: state.queuedMessages,
    state: stableFields(state),
    ...mergeSnapshot(view, { messages, cursor }),
  };
}

/** Removes closed servers. */
const upsertServer = (before: readonly McpServerStatus[], server: McpServerStatus): McpServerStatus[] =>
  upsert(before, server.status === 'closed' ? undefined : server, ({ name }) => name === server.name);

const stableFields = (state: Partial<SessionState>): Partial<StableState> =>
  Object.fromEntries(Object.entries(state).filter(([name]) => !(TRANSIENT_FIELDS as readonly string[]).includes(name)));
