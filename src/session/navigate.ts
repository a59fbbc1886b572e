import { unlessAborted } from '../agent/unless-aborted.ts';
import { messageOf, Refusal } from '../protocol/errors.ts';
import type { BranchSummaryEntry, Params, Result, SessionEntry } from '../protocol/generated/vocabulary.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { CompactorParts } from './compaction/compactor.ts';
import { fileOperations, touchedFiles } from './compaction/files.ts';
import { limitsFor, maxRecordBytes } from './compaction/limits.ts';
import { summariseMessages, summariserOf, totalUsage } from './compaction/summarise.ts';
import { summaryText } from './compaction/summary-text.ts';
import { contextOf } from './context/context.ts';
import type { Summary, TreeHookResult, TreeMove, TreePlan } from './hooks.ts';
import { textOf } from './input/input.ts';
import { requireModel } from './model-choice.ts';

/** Dependencies of a navigation. */
export interface NavigationParts extends CompactorParts {
  readonly isRunning: () => boolean;
}

type Draft = Pick<BranchSummaryEntry, 'summary' | 'details' | 'usage' | 'fromHook'>;

// The new leaf, and the text of the message that the user may edit.
interface Destination {
  readonly leafId: string | null;
  readonly editorText?: string;
}

/** Continues the conversation from another entry. Nothing changes before the move is stored. */
export async function navigate(
  parts: NavigationParts,
  params: Params<'navigate_tree'>,
  signal: AbortSignal,
): Promise<Result<'navigate_tree'>> {
  const { hooks, transcript } = parts;
  const { log } = transcript;
  const target = log.entry(params.targetId);
  if (!target) throw new Refusal('not_found', `Entry not found: ${params.targetId}`);
  if (target.id === log.leafId) return { cancelled: false };
  const plan = params.summarize || hooks.beforeTree ? planOf(log, params) : undefined;
  const hookCall = plan && hooks.beforeTree?.(plan, signal);
  const hookResult: TreeHookResult | undefined = hookCall && (await unlessAborted(hookCall, signal));
  if (signal.aborted || (hookResult && 'cancel' in hookResult)) return { cancelled: true };
  const draft = plan?.userWantsSummary ? await summaryFor(parts, { ...plan, ...hookResult }, signal) : undefined;
  if (signal.aborted) return { cancelled: true };
  if (parts.isRunning()) throw new Refusal('agent_busy', 'A run has begun meanwhile');
  const { leafId, editorText } = destination(target, log);
  const move = moveLeaf(parts, { targetId: target.id, leafId, label: hookResult?.label ?? params.label, draft });
  await transcript.sync();
  const hookDone = hooks.afterTree?.(move)?.catch(() => {});
  if (hookDone !== undefined) await unlessAborted(hookDone, signal);
  return {
    cancelled: false,
    ...(editorText === undefined ? {} : { editorText }),
    ...(move.summaryEntry ? { summaryEntryId: move.summaryEntry.id } : {}),
  };
}

/** A user's message can be edited and sent again: its parent becomes the leaf. */
function destination(entry: SessionEntry, log: SessionLog): Destination {
  const userMessage = entry.type === 'message' && entry.message.role === 'user' ? entry.message : undefined;
  const editable = entry.type === 'custom_message' ? entry : userMessage;
  return editable ? { leafId: log.parentOf(entry.id), editorText: textOf(editable) } : { leafId: entry.id };
}

function planOf(log: SessionLog, params: Params<'navigate_tree'>): TreePlan {
  const { targetId, summarize = false, customInstructions, replaceInstructions, label } = params;
  const targetPath = new Set([...log.nodes(targetId)].map(({ id }) => id));
  const abandoned: string[] = [];
  let commonAncestorId: string | null = null;
  for (const { id } of log.nodes()) {
    if (targetPath.has(id)) {
      commonAncestorId = id;
      break;
    }
    abandoned.push(id);
  }
  return {
    targetId,
    oldLeafId: log.leafId,
    commonAncestorId,
    entriesToSummarize: abandoned.reverse().flatMap((id) => log.entry(id) ?? []),
    userWantsSummary: summarize,
    customInstructions,
    replaceInstructions,
    label,
  };
}

/** The summary of the abandoned entries; undefined if they hold no messages or the signal aborts. */
async function summaryFor(
  parts: NavigationParts,
  plan: TreePlan & Partial<Summary>,
  signal: AbortSignal,
): Promise<Draft | undefined> {
  const { summary, details } = plan;
  if (summary) return { summary, details, fromHook: true };
  try {
    return await writeSummary(parts, plan, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    if (error instanceof Refusal) throw error;
    throw new Refusal('internal', `Summarization failed: ${messageOf(error)}`, { cause: error });
  }
}

async function writeSummary(parts: NavigationParts, plan: TreePlan, signal: AbortSignal): Promise<Draft | undefined> {
  const { entriesToSummarize: abandoned, customInstructions, replaceInstructions } = plan;
  const messages = contextOf(abandoned);
  if (messages.length === 0) return undefined;
  await parts.transcript.secure(signal);
  const model = requireModel(parts.choice());
  const { compaction, branchSummary } = parts.settings();
  const limits = limitsFor(model, { ...compaction, ...branchSummary });
  const writer = summariserOf(parts, {
    model,
    maxTokens: Math.floor(limits.reserveTokens * SUMMARY_SHARE),
    source: { source: 'branchSummary' },
    signal,
  });
  const maxBytes = maxRecordBytes(model, limits, parts.scale.slope(model));
  const texts = await summariseMessages(
    { kind: 'branch', messages, maxBytes, customInstructions, replaceInstructions },
    writer,
  );
  const last = texts.at(-1);
  if (!last) return undefined;
  const files = touchedFiles(fileOperations(messages, abandoned.filter(isSummary)));
  return { summary: summaryText(last.text, undefined, files), details: files, usage: totalUsage(texts) };
}

// Share of the reserved tokens that a summary may use.
const SUMMARY_SHARE = 0.8;

const isSummary = (entry: SessionEntry) => entry.type === 'compaction' || entry.type === 'branch_summary';

interface LeafMove {
  readonly targetId: string;
  readonly leafId: string | null;
  readonly label: string | undefined;
  readonly draft: Draft | undefined;
}

/** Stores the move, its summary and its label, and publishes the new message count. */
function moveLeaf({ events, transcript }: NavigationParts, { targetId, leafId, label, draft }: LeafMove): TreeMove {
  const { log } = transcript;
  const oldLeafId = log.leafId;
  const summary = draft && { type: 'branch_summary' as const, fromId: oldLeafId ?? 'root', ...draft };
  const summaryEntry = summary && (transcript.appendBelow(leafId, summary) as BranchSummaryEntry);
  if (summaryEntry && label) transcript.setLabel(summaryEntry.id, label);
  // Before the first entry the target itself gets the label.
  else if (label) transcript.appendBelow(leafId, { type: 'label', targetId: leafId ?? targetId, label });
  else if (!summaryEntry && leafId !== oldLeafId) transcript.storeLeaf(leafId);
  events.publish({ type: 'state_changed', state: { messageCount: transcript.messageCount } });
  return { newLeafId: log.leafId, oldLeafId, summaryEntry, fromHook: draft?.fromHook ?? false };
}
