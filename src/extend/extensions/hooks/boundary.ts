import type { Continuation, HookMessage } from '../../../agent/hooks.ts';
import type { ModelMessage } from '../../../model/request.ts';
import { Refusal } from '../../../protocol/errors.ts';
import type {
  AgentMessage,
  CompactionEntry,
  CustomMessage,
  SessionEntry,
} from '../../../protocol/generated/vocabulary.ts';
import { editedMessages, editsIn, sinceCompaction } from '../../../session/context/context.ts';
import { estimateContext } from '../../../session/context/context-usage.ts';
import { modelMessages } from '../../../session/context/model-messages.ts';
import { userMessage } from '../../../session/input/input.ts';
import type { Session } from '../../../session/session.ts';
import type { CustomMessageDraft, ExtensionEntryDraft, ExtensionEvent } from '../events.ts';
import type { ExtensionHost } from '../host.ts';
import type { HandlerRunner } from './call-handlers.ts';

/** The conversation as the next request would hold it, with the drafts of the handlers so far. */
export interface BoundaryContext {
  contextEntries: { sourceEntry: SessionEntry; messages: AgentMessage[] }[];
  contextMessages: AgentMessage[];
  llmMessages: ModelMessage[];
  pendingMessages: AgentMessage[];
  /** False if a request would end with an assistant message. */
  canContinue: boolean;
}

type BoundaryEvent = ExtensionEvent<'turn_end' | 'agent_before_settle'>;

/** A boundary event before its handlers run. */
export type BoundaryFacts = BoundaryEvent extends infer E
  ? E extends BoundaryEvent
    ? Omit<E, 'entries' | 'continue' | 'context'>
    : never
  : never;

/** The agent and the run that a boundary event belongs to. */
export interface BoundaryCall {
  readonly host: ExtensionHost;
  readonly runner: HandlerRunner;
  readonly signal: AbortSignal;
}

/**
 * Calls the handlers of a boundary event. Each sees the drafts of the handlers before it and may replace the list. The
 * entries are stored together, and not after an abort: the session may have changed.
 */
export async function continuationAt(call: BoundaryCall, facts: BoundaryFacts): Promise<Continuation | undefined> {
  const { host, runner, signal } = call;
  let path = '<boundary>';
  const event = { ...facts, entries: [] as ExtensionEntryDraft[], continue: false } as BoundaryEvent;
  // Computed on use: it reads the whole branch.
  Object.defineProperty(event, 'context', {
    enumerable: true,
    get: () => boundaryContext(host.session(), event.entries),
  });
  for await (const { result, extension } of runner.resultsByExtension(event)) {
    if (signal.aborted) return undefined;
    if (result.entries) {
      path = extension.path;
      event.entries = result.entries;
    }
    event.continue = result.continue ?? event.continue;
  }
  // Also after an abort during a handler without a result.
  if (signal.aborted) return undefined;
  try {
    return store(event, host.session());
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    host.reportFailure(path, event.type, error);
    return undefined;
  }
}

function store(event: BoundaryEvent, session: Session): Continuation | undefined {
  const { entries: drafts } = event;
  const shouldContinue = event.continue;
  const { canContinue } = shouldContinue ? event.context : { canContinue: true };
  for (const draft of drafts) checkDraft(draft, session);
  const messages = drafts.flatMap((draft) => storeDraft(draft, session));
  if (!canContinue)
    throw new Refusal('invalid_params', `${event.type} cannot continue: no message waits for an answer`);
  return messages.length > 0 || shouldContinue ? { messages, continue: shouldContinue } : undefined;
}

// All drafts are checked before the first one is stored.
function checkDraft(draft: ExtensionEntryDraft, { transcript }: Session): void {
  if (draft.type === 'context_edit') transcript.checkEditable(draft.targetId);
  else if (draft.type === 'compaction' && draft.firstKeptEntryId !== null)
    transcript.checkOnBranch(draft.firstKeptEntryId);
}

// Stores an entry, or returns the message to send.
function storeDraft(draft: ExtensionEntryDraft, { transcript }: Session): HookMessage[] {
  if (draft.type === 'custom_message') return [toCustomMessage(draft)];
  if (draft.type === 'custom') transcript.append(draft);
  else if (draft.type === 'context_edit') transcript.editContext(draft.targetId, draft.replacement);
  else {
    const tokensBefore = estimateContext(transcript.messages);
    transcript.append({ ...draft, tokensBefore, fromHook: true });
  }
  return [];
}

function boundaryContext(session: Session, drafts: readonly ExtensionEntryDraft[]): BoundaryContext {
  const { transcript, log } = session;
  const entries = [...log.branch(), ...drafts.map((draft, index) => draftEntry(draft, index, transcript.messages))];
  const edits = editsIn(entries);
  const kept = sinceCompaction(entries, (compaction) => (compaction as CompactionEntry).firstKeptEntryId);
  const contextEntries = structuredClone(
    kept.map((sourceEntry) => ({ sourceEntry, messages: editedMessages(sourceEntry, edits) })),
  );
  const contextMessages = contextEntries.flatMap(({ messages }) => messages);
  const llmMessages = modelMessages(contextMessages);
  const pendingMessages = session.queue.items.map(({ text }) => userMessage({ text, images: [] }));
  const isRunnable = llmMessages.length > 0 && llmMessages.at(-1)?.role !== 'assistant';
  return {
    contextEntries,
    contextMessages,
    llmMessages,
    pendingMessages,
    canContinue: isRunnable || session.hasPendingInput,
  };
}

// A draft as the entry that it will become.
function draftEntry(draft: ExtensionEntryDraft, index: number, before: readonly AgentMessage[]): SessionEntry {
  const position = { id: `draft-${index}`, parentId: null, timestamp: new Date().toISOString() };
  const measured = draft.type === 'compaction' ? { tokensBefore: estimateContext(before) } : {};
  return { ...draft, ...measured, ...position } as unknown as SessionEntry;
}

/** The ids of the last assistant message and its tool results, both stored by now. */
export function turnEntryIds({ log }: Session): { messageEntryId: string; toolResultEntryIds: string[] } {
  const toolResultEntryIds: string[] = [];
  for (const { id, role } of log.nodesOfKind('assistant', 'toolResult')) {
    if (role === 'assistant') return { messageEntryId: id, toolResultEntryIds: toolResultEntryIds.reverse() };
    toolResultEntryIds.push(id);
  }
  return { messageEntryId: '', toolResultEntryIds: [] };
}

/** The session message for a custom message of an extension. */
export const toCustomMessage = ({ customType, content, display, details }: CustomMessageDraft): CustomMessage => ({
  role: 'custom',
  customType,
  content,
  display,
  ...(details === undefined ? {} : { details }),
  timestamp: Date.now(),
});
