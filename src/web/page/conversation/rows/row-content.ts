import { computed, type ReadonlySignal } from '@preact/signals';
import type { ConversationView } from '../../../../client/view/view.ts';
import type { AgentMessage } from '../../../../protocol/generated/vocabulary.ts';
import type { MessageContext } from '../../../message/message.tsx';
import type { CallProgress } from '../../../message/tools/tool-use.ts';
import { type MessageRow, toolCallIds } from './rows.ts';

/** A message with its tool results and progress. */
export interface RowContent {
  readonly message: AgentMessage | undefined;
  readonly around: MessageContext;
}

/** Returns the content of a row; an unchanged content keeps its identity. */
export function rowContent(row: MessageRow, view: ReadonlySignal<ConversationView>): ReadonlySignal<RowContent> {
  const resultOf = (id: string) => row.results.get(id);
  const openCalls = row.message && toolCallIds(row.message).filter((id) => !row.results.has(id));
  if (openCalls?.length === 0) return computed(() => ({ message: row.message, around: { resultOf } }));
  let shown: RowContent | undefined;
  let lastProgress: ReadonlyMap<string, CallProgress> = new Map();
  return computed(() => {
    const message = row.message ?? view.value.streamingMessage;
    const progress = progressIn(message, openCalls, view.value);
    if (shown && shown.message === message && isSame(lastProgress, progress)) return shown;
    lastProgress = progress;
    const isStreaming = row.message === undefined;
    const next: RowContent = { message, around: { resultOf, progressOf: (id) => progress.get(id), isStreaming } };
    shown = next;
    return next;
  });
}

/** Returns the progress of the open tool calls of the latest assistant message during a run. */
function progressIn(
  message: AgentMessage | undefined,
  openCalls: readonly string[] | undefined,
  { streamingMessage: answer, messages, tools, running, dialogs }: ConversationView,
): ReadonlyMap<string, CallProgress> {
  const latest = answer ?? messages.findLast(({ role }) => role === 'assistant');
  if (!running || !message || message !== latest) return new Map();
  const calls = openCalls ?? toolCallIds(message);
  const silent = tools.filter(({ progress }) => progress === undefined);
  const named = new Set(
    dialogs.map((dialog) => (dialog.method === 'select' ? dialog.approval?.toolCallId : undefined)),
  );
  const awaiting = silent.filter(({ toolCallId }) => named.has(toolCallId));
  // A handler opens its dialog before the tool has any output, and calls reach their handlers in order.
  const others = silent.filter((tool) => !awaiting.includes(tool)).slice(0, dialogs.length - awaiting.length);
  const asking = new Set([...awaiting, ...others]);
  return new Map(
    calls.map((id) => {
      const tool = tools.find(({ toolCallId }) => toolCallId === id);
      return [id, tool && asking.has(tool) ? 'asking' : (tool ?? 'waiting')];
    }),
  );
}

const isSame = (one: ReadonlyMap<string, CallProgress>, other: ReadonlyMap<string, CallProgress>) =>
  one.size === other.size && [...one].every(([id, progress]) => other.get(id) === progress);
