import { toolCallsOf } from '../../agent/tool-calls.ts';
import type { AgentMessage, CompactionEntry, SessionEntry } from '../../protocol/generated/vocabulary.ts';
import { editedMessages, editsIn } from '../context/context.ts';
import { estimateTokens } from '../context/context-usage.ts';
import { type FileOperations, fileOperations } from './files.ts';
import { withoutFiles } from './summary-text.ts';

/** The part of a branch that a compaction summarises, and the first entry that it keeps. */
export interface BranchSplit {
  readonly firstKeptEntryId: string;
  /** Whole turns. */
  readonly history: readonly AgentMessage[];
  /** The start of a turn whose end is kept. */
  readonly prefix: readonly AgentMessage[];
  readonly previousSummary: string | undefined;
  readonly fileOps: FileOperations;
}

interface OpenEntry {
  readonly entry: SessionEntry;
  readonly messages: readonly AgentMessage[];
}

/**
 * Splits a branch so that about `keepRecentTokens` are kept; undefined when nothing comes before the cut.
 *
 * The kept part never starts with a tool result, so that no call is separated from its result.
 */
export function splitBranch(branch: readonly SessionEntry[], keepRecentTokens: number): BranchSplit | undefined {
  const at = branch.findLastIndex(({ type }) => type === 'compaction');
  const previous = branch[at] as CompactionEntry | undefined;
  const entries = uncompacted(branch, at, previous);
  const cut = cutPoint(entries, keepRecentTokens);
  if (cut === undefined) return undefined;
  const start = turnStart(entries, cut);
  const history = messagesOf(entries.slice(0, start));
  const prefix = messagesOf(entries.slice(start, cut));
  if (history.length + prefix.length === 0) return undefined;
  return {
    firstKeptEntryId: firstKept(entries, cut),
    history,
    prefix,
    previousSummary: previous && withoutFiles(previous.summary),
    fileOps: fileOperations([...history, ...prefix], previous ? [previous] : []),
  };
}

/** The entries that no compaction has summarised: those that the latest one kept, and those after it. */
function uncompacted(branch: readonly SessionEntry[], at: number, previous: CompactionEntry | undefined): OpenEntry[] {
  const edits = editsIn(branch);
  const first = previous ? branch.findIndex(({ id }) => id === previous.firstKeptEntryId) : 0;
  const from = first === -1 ? at + 1 : first;
  return branch.slice(from).flatMap((entry) => {
    return entry.type === 'compaction' ? [] : [{ entry, messages: editedMessages(entry, edits) }];
  });
}

/**
 * The first allowed cut that keeps at most `keepRecentTokens`, else the last allowed cut; undefined when the branch is
 * smaller than that.
 */
function cutPoint(entries: readonly OpenEntry[], keepRecentTokens: number): number | undefined {
  let kept = 0;
  for (let at = entries.length - 1; at > 0; at--) {
    kept += (entries[at]?.messages ?? []).reduce((sum, message) => sum + estimateTokens(message), 0);
    if (kept < keepRecentTokens) continue;
    const forbidden = cutsBetweenCallAndResult(entries);
    const candidates = [...entries.keys()].filter((index) => canStartKept(entries[index]) && !forbidden.has(index));
    return candidates.find((index) => index >= at) ?? candidates.at(-1);
  }
  return undefined;
}

function canStartKept(entry: OpenEntry | undefined): boolean {
  const [first] = entry?.messages ?? [];
  return first !== undefined && first.role !== 'toolResult';
}

/** Cuts that would separate a tool call from its result although other entries lie between them. */
function cutsBetweenCallAndResult(entries: readonly OpenEntry[]): Set<number> {
  const callIndexes = new Map<string, number>();
  const forbidden = new Set<number>();
  for (const [at, { messages }] of entries.entries()) {
    for (const message of messages) {
      if (message.role === 'assistant') for (const { id } of toolCallsOf(message)) callIndexes.set(id, at);
      if (message.role !== 'toolResult') continue;
      for (let between = at; between > (callIndexes.get(message.toolCallId) ?? at); between--) forbidden.add(between);
    }
  }
  return forbidden;
}

/** Start of the turn that the cut splits; the cut itself when it lies between two turns. */
function turnStart(entries: readonly OpenEntry[], cut: number): number {
  const start = entries.findLastIndex((entry, index) => index <= cut && beginsTurn(entry));
  return start === -1 ? cut : start;
}

const beginsTurn = ({ messages: [first] }: OpenEntry) =>
  first !== undefined && first.role !== 'assistant' && first.role !== 'toolResult';

/** Entries without messages, such as model changes, directly before the kept part are kept too. */
function firstKept(entries: readonly OpenEntry[], cut: number): string {
  let first = cut;
  while (first > 0 && entries[first - 1]?.messages.length === 0) first--;
  return entries[first]?.entry.id ?? '';
}

const messagesOf = (entry: readonly OpenEntry[]): AgentMessage[] => entry.flatMap(({ messages }) => messages);
