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
  /** Also send automatic compactions under their older names. */
  readonly legacyNames: boolean;
  /** Also send extension errors as `hook_error`, as in the remote session guide. */
  readonly hookErrors: boolean;
}

export const defaultDialect: Dialect = { stream: 'cumulative', legacyNames: true, hookErrors: false };

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

/** Returns the older forms of an event that are sent after it. */
export function legacyEvents(dialect: Dialect, record: AgentEvent): AgentEvent[] {
  if (record.type === 'compaction_start' && dialect.legacyNames && record.reason !== 'manual') {
    return [{ type: 'auto_compaction_start', reason: record.reason }];
  }
  if (record.type === 'compaction_end' && dialect.legacyNames && record.reason !== 'manual') {
    const { reason: _reason, ...rest } = record;
    return [{ ...rest, type: 'auto_compaction_end' }];
  }
  if (record.type === 'extension_error' && dialect.legacyNames && dialect.hookErrors) {
    return [{ type: 'hook_error', hookPath: record.extensionPath, event: record.event, error: record.error }];
  }
  return [];
}

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
