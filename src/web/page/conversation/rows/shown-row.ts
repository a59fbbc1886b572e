import { computed, type ReadonlySignal } from '@preact/signals';
import type { RunningTool, ConversationView } from '../../../../client/view/view.ts';
import type { AgentMessage } from '../../../../protocol/generated/vocabulary.ts';
import type { Surroundings } from '../../../message/message.tsx';
import { callsOf, type Row } from './rows.ts';

/** A message and what belongs to it. */
export interface ShownRow {
  readonly message: AgentMessage | undefined;
  readonly around: Surroundings;
}

type Progress = 'waiting' | RunningTool;

/** What a row shows; the same object until something of it is another. */
export function shownRow(row: Row, view: ReadonlySignal<ConversationView>): ReadonlySignal<ShownRow> {
  const resultOf = (id: string) => row.results.get(id);
  const openCalls = row.message && callsOf(row.message).filter((id) => !row.results.has(id));
  if (openCalls?.length === 0) return computed(() => ({ message: row.message, around: { resultOf } }));
  let shown: ShownRow | undefined;
  let under: ReadonlyMap<string, Progress> = new Map();
  return computed(() => {
    const message = row.message ?? view.value.streamingMessage;
    const now = progressIn(message, openCalls, view.value);
    if (shown && shown.message === message && isSame(under, now)) return shown;
    under = now;
    const isStreaming = row.message === undefined;
    const next: ShownRow = { message, around: { resultOf, progressOf: (id) => now.get(id), isStreaming } };
    shown = next;
    return next;
  });
}

/** The calls of the latest answer that are not over, as long as a run is. */
function progressIn(
  message: AgentMessage | undefined,
  openCalls: readonly string[] | undefined,
  { streamingMessage: answer, messages, tools, running }: ConversationView,
): ReadonlyMap<string, Progress> {
  const latest = answer ?? messages.findLast(({ role }) => role === 'assistant');
  if (!running || !message || message !== latest) return new Map();
  const calls = openCalls ?? callsOf(message);
  return new Map(calls.map((id) => [id, tools.find(({ toolCallId }) => toolCallId === id) ?? 'waiting']));
}

const isSame = (one: ReadonlyMap<string, Progress>, other: ReadonlyMap<string, Progress>) =>
  one.size === other.size && [...one].every(([id, progress]) => other.get(id) === progress);
