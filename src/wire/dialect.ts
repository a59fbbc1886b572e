import type { ToolOutputForm } from '../protocol/events/tool-output.ts';
import type {
  AgentEvent,
  AssistantMessage,
  AssistantMessageEvent,
  MessageUpdateEvent,
} from '../protocol/generated/vocabulary.ts';

/** The form in which one client receives events. */
export interface Dialect {
  /** `cumulative`: every update repeats the message so far, as in pi's references. `delta`: only the new part. */
  readonly stream: 'cumulative' | 'delta';
  readonly toolOutput: ToolOutputForm;
  /** Also send automatic compactions under their older names. */
  readonly legacyNames: boolean;
  /** Also send extension errors as `hook_error`, as in the remote session guide. */
  readonly hookErrors: boolean;
}

export const defaultDialect: Dialect = {
  stream: 'cumulative',
  toolOutput: 'cumulative',
  legacyNames: true,
  hookErrors: false,
};

/** Converts a streaming update to this dialect. `snapshot` is the message after the step. */
export function formatUpdate(
  dialect: Dialect,
  update: MessageUpdateEvent,
  snapshot: AssistantMessage,
): MessageUpdateEvent {
  const step = update.assistantMessageEvent;
  if (dialect.stream === 'delta') {
    const { message: _message, ...rest } = update;
    return { ...rest, assistantMessageEvent: withoutMessage(step) };
  }
  const { usage: _usage, ...rest } = update;
  return { ...rest, assistantMessageEvent: withPartial(step, snapshot), message: snapshot };
}

/** The session and the run that an event belongs to. */
export interface EventIds {
  readonly sessionId: string | undefined;
  readonly runId: string | undefined;
}

const RUN_EVENT =
  /^(agent_start|agent_end|turn_|message_|tool_execution_|auto_|compaction_|host_tool_|ttsr_|todo_reminder)/;

// Events that always carry an id; to them it means what `ids` means.
const OWN_IDS: Readonly<Record<string, keyof EventIds>> = {
  agent_settled: 'runId',
  heartbeat: 'runId',
  session_repaired: 'sessionId',
  server_connected: 'sessionId',
};

/** Adds the ids that an event lacks; `runId` to the events of a run only. */
export function withIds(event: AgentEvent, { sessionId, runId }: EventIds): AgentEvent {
  const id = event.runId ?? (RUN_EVENT.test(event.type) ? runId : undefined);
  return { ...event, ...definedIds({ sessionId: event.sessionId ?? sessionId, runId: id }) } as AgentEvent;
}

/** Removes the ids that only clients with `ids` receive. */
export function withoutIds(event: AgentEvent): AgentEvent {
  if (!hasAddedIds(event)) return event;
  const { sessionId, runId, ...rest } = event as { sessionId?: string; runId?: string };
  const own = OWN_IDS[event.type];
  return { ...rest, ...(own === undefined ? {} : { [own]: { sessionId, runId }[own] }) } as AgentEvent;
}

/** Whether an event carries ids beyond its own. */
export function hasAddedIds(event: AgentEvent): boolean {
  const own = OWN_IDS[event.type];
  return (event.sessionId !== undefined && own !== 'sessionId') || (event.runId !== undefined && own !== 'runId');
}

/** Returns the older forms of an event that are sent after it. */
export function legacyEvents(dialect: Dialect, record: AgentEvent): AgentEvent[] {
  if (record.type === 'compaction_start' && dialect.legacyNames && record.reason !== 'manual') {
    const { reason, sessionId, runId } = record;
    return [{ type: 'auto_compaction_start', reason, ...definedIds({ sessionId, runId }) }];
  }
  if (record.type === 'compaction_end' && dialect.legacyNames && record.reason !== 'manual') {
    const { reason: _reason, ...rest } = record;
    return [{ ...rest, type: 'auto_compaction_end' }];
  }
  if (record.type === 'extension_error' && dialect.legacyNames && dialect.hookErrors) {
    const { extensionPath, event, error, sessionId, runId } = record;
    return [{ type: 'hook_error', hookPath: extensionPath, event, error, ...definedIds({ sessionId, runId }) }];
  }
  return [];
}

const definedIds = ({ sessionId, runId }: EventIds) => ({
  ...(sessionId === undefined ? {} : { sessionId }),
  ...(runId === undefined ? {} : { runId }),
});

function withoutMessage(step: AssistantMessageEvent): AssistantMessageEvent {
  if (step.type === 'done') return { type: 'done', reason: step.reason };
  if (step.type === 'error') return { type: 'error', reason: step.reason };
  return step;
}

function withPartial(step: AssistantMessageEvent, snapshot: AssistantMessage): AssistantMessageEvent {
  if (step.type === 'done') return { ...step, message: snapshot };
  if (step.type === 'error') return { ...step, error: snapshot };
  return { ...step, partial: snapshot };
}
