import type {
  AgentEvent,
  AgentMessage,
  AssistantMessage,
  QueuedItem,
  SessionState,
  ToolProgress,
} from '../protocol/generated/vocabulary.ts';
import { fold } from '../wire/fold.ts';

/** A tool that runs now. */
export interface RunningTool {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly progress: ToolProgress | undefined;
}

/** What a screen shows: a pure function of a snapshot and the events after it. */
export interface View {
  readonly messages: readonly AgentMessage[];
  /** The answer that is streaming. */
  readonly answer: AssistantMessage | undefined;
  readonly tools: readonly RunningTool[];
  readonly queue: readonly QueuedItem[];
  readonly running: boolean;
  readonly state: Partial<SessionState>;
}

export const emptyView: View = { messages: [], answer: undefined, tools: [], queue: [], running: false, state: {} };

/** The view after one more event. Events it knows nothing to show for leave it as it is. */
export function reduce(view: View, event: AgentEvent): View {
  switch (event.type) {
    case 'agent_start':
      return { ...view, running: true };
    case 'agent_settled':
      return { ...view, running: false, answer: undefined, tools: [] };
    case 'message_start':
      return event.message.role === 'assistant' ? { ...view, answer: event.message } : view;
    case 'message_update':
      return view.answer ? { ...view, answer: fold(view.answer, event.assistantMessageEvent) } : view;
    case 'message_end':
      return { ...view, messages: [...view.messages, event.message], answer: undefined };
    case 'tool_execution_start': {
      const { toolCallId, toolName, args } = event;
      return { ...view, tools: [...view.tools, { toolCallId, toolName, args, progress: undefined }] };
    }
    case 'tool_execution_update':
      return { ...view, tools: view.tools.map((tool) => progressed(tool, event)) };
    case 'tool_execution_end':
      return { ...view, tools: view.tools.filter((tool) => tool.toolCallId !== event.toolCallId) };
    case 'auto_retry_start':
      return withoutFailed(view);
    case 'compaction_start':
      return event.reason === 'overflow' ? withoutFailed(view) : view;
    case 'queue_update':
      return { ...view, queue: event.items };
    case 'state_changed':
      return changed(view, event.state);
    case 'state_synced':
      return { ...view, state: event.state, messages: event.messages, running: event.state.isStreaming };
    default:
      return view;
  }
}

/** An answer that is asked for again is no part of the conversation. */
function withoutFailed(view: View): View {
  const last = view.messages.at(-1);
  const isFailed = last?.role === 'assistant' && last.stopReason === 'error';
  return isFailed ? { ...view, messages: view.messages.slice(0, -1) } : view;
}

/** A field that went away is told as null; only a model can be null. What was said belongs to the session it was said in. */
function changed(view: View, news: Readonly<Record<string, unknown>>): View {
  const fields = Object.entries({ ...view.state, ...news }).filter(
    ([name, value]) => value !== null || name === 'model',
  );
  const state: Partial<SessionState> = Object.fromEntries(fields);
  if (!Object.hasOwn(news, 'sessionId')) return { ...view, state };
  return { ...view, state, messages: [], answer: undefined, tools: [], queue: [] };
}

const progressed = (tool: RunningTool, event: { toolCallId: string; partialResult: ToolProgress }): RunningTool =>
  tool.toolCallId === event.toolCallId ? { ...tool, progress: event.partialResult } : tool;
