import { callsOf } from '../../agent/answer.ts';
import type { AgentMessage, CompactionEntry, SessionEntry } from '../../protocol/generated/vocabulary.ts';
import { editsIn, saidIn } from '../context.ts';
import { estimateTokens } from '../context-usage.ts';
import { type FileOperations, fileOperations } from './files.ts';
import { withoutFiles } from './summary-text.ts';

/** What a compaction is to summarise, and what it leaves alone. */
export interface Plan {
  readonly firstKeptEntryId: string;
  /** Whole turns. */
  readonly history: readonly AgentMessage[];
  /** The beginning of a turn whose end is kept. */
  readonly prefix: readonly AgentMessage[];
  readonly previousSummary: string | undefined;
  readonly fileOps: FileOperations;
}

/** An entry of the conversation with what it says. */
interface Said {
  readonly entry: SessionEntry;
  readonly messages: readonly AgentMessage[];
}

/**
 * Cuts a branch so that its end has about the given size. Undefined when there is nothing before the cut. What is kept
 * never begins with the result of a tool, so that no call is parted from its result.
 */
export function planCompaction(branch: readonly SessionEntry[], keepRecentTokens: number): Plan | undefined {
  const at = branch.findLastIndex(({ type }) => type === 'compaction');
  const previous = branch[at] as CompactionEntry | undefined;
  const open = sinceBoundary(branch, at, previous);
  const cut = cutPoint(open, keepRecentTokens);
  if (cut === undefined) return undefined;
  const start = turnStart(open, cut);
  const history = messagesOf(open.slice(0, start));
  const prefix = messagesOf(open.slice(start, cut));
  if (history.length + prefix.length === 0) return undefined;
  return {
    firstKeptEntryId: firstKept(open, cut),
    history,
    prefix,
    previousSummary: previous && withoutFiles(previous.summary),
    fileOps: fileOperations([...history, ...prefix], previous ? [previous] : []),
  };
}

/** What is said word for word at present: what the latest compaction kept, and what came after it. */
function sinceBoundary(branch: readonly SessionEntry[], at: number, previous: CompactionEntry | undefined): Said[] {
  const edits = editsIn(branch);
  const first = previous ? branch.findIndex(({ id }) => id === previous.firstKeptEntryId) : 0;
  const from = first === -1 ? at + 1 : first;
  return branch.slice(from).flatMap((entry) => {
    return entry.type === 'compaction' ? [] : [{ entry, messages: saidIn(entry, edits) }];
  });
}

/**
 * The first place from which on not more is said than is to be kept, or the last before it where what comes at the end
 * cannot be parted; undefined when there is less than that in all.
 */
function cutPoint(open: readonly Said[], keepRecentTokens: number): number | undefined {
  let kept = 0;
  for (let at = open.length - 1; at > 0; at--) {
    kept += (open[at]?.messages ?? []).reduce((sum, message) => sum + estimateTokens(message), 0);
    if (kept < keepRecentTokens) continue;
    const parting = betweenCallAndResult(open);
    const places = [...open.keys()].filter((place) => mayBegin(open[place]) && !parting.has(place));
    return places.find((place) => place >= at) ?? places.at(-1);
  }
  return undefined;
}

function mayBegin(said: Said | undefined): boolean {
  const [first] = said?.messages ?? [];
  return first !== undefined && first.role !== 'toolResult';
}

/** Where a cut would part a call from its result, although something else stands between them. */
function betweenCallAndResult(open: readonly Said[]): Set<number> {
  const callers = new Map<string, number>();
  const parting = new Set<number>();
  for (const [at, { messages }] of open.entries()) {
    for (const message of messages) {
      if (message.role === 'assistant') for (const { id } of callsOf(message)) callers.set(id, at);
      if (message.role !== 'toolResult') continue;
      for (let between = at; between > (callers.get(message.toolCallId) ?? at); between--) parting.add(between);
    }
  }
  return parting;
}

/** Where the turn began that the cut goes through; the cut itself when it goes between two turns. */
function turnStart(open: readonly Said[], cut: number): number {
  const start = open.findLastIndex((said, index) => index <= cut && beginsTurn(said));
  return start === -1 ? cut : start;
}

const beginsTurn = ({ messages: [first] }: Said) =>
  first !== undefined && first.role !== 'assistant' && first.role !== 'toolResult';

/** Changes of the model and the like that stand right before what is kept are kept with it. */
function firstKept(open: readonly Said[], cut: number): string {
  let first = cut;
  while (first > 0 && open[first - 1]?.messages.length === 0) first--;
  return open[first]?.entry.id ?? '';
}

const messagesOf = (said: readonly Said[]): AgentMessage[] => said.flatMap(({ messages }) => messages);
