import { sumUsage } from '../../../../agent/nested-calls.ts';
import { messageOf } from '../../../../protocol/errors.ts';
import type {
  AgentMessage,
  AssistantMessage,
  Model,
  SessionEntry,
  Usage,
} from '../../../../protocol/generated/vocabulary.ts';
import { type FileOperations, fileOperations, touchedFiles } from '../../../../session/compaction/files.ts';
import { promptFor, SUMMARISER_PROMPT, type SummaryRequest } from '../../../../session/compaction/instructions.ts';
import { recordsOf } from '../../../../session/compaction/record.ts';
import { summaryText } from '../../../../session/compaction/summary-text.ts';
import { editedMessages, editsIn, entryMessages } from '../../../../session/context/context.ts';
import { type Context, createModelCalls, type ModelCallOptions } from '../ai/model-calls.ts';
import type { ExtensionEnvironment } from '../extension-environment.ts';
import { estimateTokens } from './conversation.ts';

type StreamFn = (
  model: Model,
  context: Context,
  options: ModelCallOptions,
) => { result(): Promise<AssistantMessage> } | Promise<{ result(): Promise<AssistantMessage> }>;

interface Credentials {
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly streamFn?: StreamFn | undefined;
}

type SummaryArguments = [
  messages: readonly AgentMessage[],
  model: Model,
  reserveTokens?: number,
  apiKey?: string,
  headers?: Readonly<Record<string, string>>,
  signal?: AbortSignal,
  customInstructions?: string,
  previousSummary?: string,
  thinkingLevel?: string,
  streamFn?: StreamFn,
];

/** The messages that a compaction summarises, as `session_before_compact` gets them. */
export interface PiCompactionPreparation {
  readonly firstKeptEntryId: string;
  readonly messagesToSummarize: readonly AgentMessage[];
  readonly turnPrefixMessages?: readonly AgentMessage[] | undefined;
  readonly tokensBefore: number;
  readonly previousSummary?: string | undefined;
  readonly fileOps: FileOperations;
}

type CompactArguments = [
  preparation: PiCompactionPreparation,
  model: Model,
  apiKey?: string,
  headers?: Readonly<Record<string, string>>,
  customInstructions?: string,
  signal?: AbortSignal,
  thinkingLevel?: string,
  streamFn?: StreamFn,
];

/** Options of `generateBranchSummary`. */
export interface PiBranchSummaryOptions extends Credentials {
  readonly model: Model;
  readonly customInstructions?: string | undefined;
  readonly replaceInstructions?: boolean | undefined;
}

/** A summary and its cost. */
export interface PiSummary {
  readonly text: string;
  readonly usage: Usage;
}

/** pi's functions that let a model summarise a conversation. */
export function summaryFunctions(environment: () => Pick<ExtensionEnvironment, 'agentDir' | 'registry'>) {
  const summarise = async (model: Model, request: SummaryRequest, credentials: Credentials): Promise<PiSummary> => {
    const { apiKey, headers, signal, streamFn } = credentials;
    const content = [{ type: 'text' as const, text: promptFor(request) }];
    const context = {
      systemPrompt: SUMMARISER_PROMPT,
      messages: [{ role: 'user' as const, content, timestamp: Date.now() }],
    };
    const options = { apiKey, headers, signal };
    const answer = streamFn
      ? await (await streamFn(model, context, options)).result()
      : await createModelCalls(environment()).complete(model, context, options);
    if (answer.stopReason === 'error' || answer.stopReason === 'aborted')
      throw new Error(`Summarization failed: ${answer.errorMessage ?? answer.stopReason}`);
    const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    return { text, usage: answer.usage };
  };
  const recordOf = (messages: readonly AgentMessage[]) => recordsOf(messages, Number.POSITIVE_INFINITY).join('\n\n');

  const generateSummaryWithUsage = (...args: SummaryArguments): Promise<PiSummary> => {
    const [messages, model, , apiKey, headers, signal, customInstructions, previousSummary, , streamFn] = args;
    const request = { record: recordOf(messages), kind: 'history' as const, customInstructions, previousSummary };
    return summarise(model, request, { apiKey, headers, signal, streamFn });
  };

  const compact = async (...args: CompactArguments) => {
    const [preparation, model, apiKey, headers, customInstructions, signal, , streamFn] = args;
    const { firstKeptEntryId, tokensBefore, fileOps, previousSummary } = preparation;
    const credentials = { apiKey, headers, signal, streamFn };
    const parts = [
      { kind: 'history' as const, messages: preparation.messagesToSummarize, previousSummary },
      { kind: 'prefix' as const, messages: preparation.turnPrefixMessages ?? [], previousSummary: undefined },
    ];
    const [history, prefix] = await Promise.all(
      parts.map(async ({ kind, messages, previousSummary: before }) => {
        if (messages.length === 0) return undefined;
        const request = { record: recordOf(messages), kind, customInstructions, previousSummary: before };
        return summarise(model, request, credentials);
      }),
    );
    const details = touchedFiles(fileOps);
    const summary = summaryText(history?.text ?? previousSummary, prefix?.text, details);
    const usage = prefix ? sumUsage(history?.usage, prefix.usage) : history?.usage;
    return { summary, firstKeptEntryId, tokensBefore, details, usage };
  };

  const generateBranchSummary = async (entries: readonly SessionEntry[], options: PiBranchSummaryOptions) => {
    const { messages, fileOps } = prepareBranchEntries(entries);
    if (messages.length === 0) return { summary: 'No content to summarize' };
    const { model, customInstructions, replaceInstructions, ...credentials } = options;
    const request = { record: recordOf(messages), kind: 'branch' as const, customInstructions, replaceInstructions };
    try {
      const { text, usage } = await summarise(model, request, credentials);
      const files = touchedFiles(fileOps);
      return { summary: summaryText(text, undefined, files), usage, ...files };
    } catch (error) {
      return options.signal?.aborted ? { aborted: true } : { error: messageOf(error) };
    }
  };

  return {
    compact,
    generateBranchSummary,
    generateSummaryWithUsage,
    generateSummary: async (...args: SummaryArguments) => (await generateSummaryWithUsage(...args)).text,
  };
}

// Up to this share of the budget another summary is added.
const SUMMARY_FITS = 0.9;

const isSummary = ({ role }: AgentMessage) => role === 'branchSummary' || role === 'compactionSummary';

/**
 * The messages of a branch after edits for a summary, newest within the budget, with the files that their tools used.
 * Tool results are left out: the calls show what was done.
 */
export function prepareBranchEntries(entries: readonly SessionEntry[], tokenBudget = 0) {
  const messages: AgentMessage[] = [];
  let totalTokens = 0;
  const edits = editsIn(entries);
  for (const message of entries.flatMap((entry) => editedMessages(entry, edits)).toReversed()) {
    if (message.role === 'toolResult') continue;
    const tokens = estimateTokens(message);
    const isOver = tokenBudget > 0 && totalTokens + tokens > tokenBudget;
    // A summary may exceed the budget: it stands for many messages.
    if (isOver && !(isSummary(message) && totalTokens < tokenBudget * SUMMARY_FITS)) break;
    totalTokens += tokens;
    messages.unshift(message);
    if (isOver) break;
  }
  const earlier = entries.filter((entry) => entry.type === 'branch_summary' || entry.type === 'compaction');
  return { messages, fileOps: fileOperations(messages, earlier), totalTokens };
}

interface BranchReader {
  getBranch(fromId?: string): SessionEntry[];
  getEntry(id: string): SessionEntry | undefined;
}

/** The entries that a move to another entry leaves, oldest first, and the last entry that both branches share. */
export function collectEntriesForBranchSummary(session: BranchReader, oldLeafId: string | null, targetId: string) {
  if (oldLeafId === null) return { entries: [], commonAncestorId: null };
  const target = new Set(session.getBranch(targetId).map(({ id }) => id));
  const branch = session.getBranch(oldLeafId);
  const shared = branch.findLastIndex(({ id }) => target.has(id));
  return { entries: branch.slice(shared + 1), commonAncestorId: branch[shared]?.id ?? null };
}

const TURN_STARTS: ReadonlySet<string> = new Set(['user', 'bashExecution']);

function startsTurn(entry: SessionEntry | undefined): boolean {
  if (entry?.type === 'branch_summary' || entry?.type === 'custom_message') return true;
  return entry?.type === 'message' && TURN_STARTS.has(entry.message.role);
}

/** The index of the entry that starts the turn of this one; -1 if none does since `startIndex`. */
export function findTurnStartIndex(entries: readonly SessionEntry[], entryIndex: number, startIndex: number): number {
  for (let index = entryIndex; index >= startIndex; index--) if (startsTurn(entries[index])) return index;
  return -1;
}

// A kept part never starts with a tool result.
const mayStartWith = (entry: SessionEntry | undefined): boolean =>
  startsTurn(entry) || (entry?.type === 'message' && entry.message.role === 'assistant');

/** The first entry to keep so that about `keepRecentTokens` are kept. */
export function findCutPoint(
  ...[entries, startIndex, endIndex, keepRecentTokens]: [
    entries: readonly SessionEntry[],
    startIndex: number,
    endIndex: number,
    keepRecentTokens: number,
  ]
): { firstKeptEntryIndex: number; turnStartIndex: number; isSplitTurn: boolean } {
  const firstStart = (from: number) =>
    entries.findIndex((entry, at) => at >= from && at < endIndex && mayStartWith(entry));
  let cut = firstStart(startIndex);
  if (cut === -1) return { firstKeptEntryIndex: startIndex, turnStartIndex: -1, isSplitTurn: false };
  let tokens = 0;
  for (let index = endIndex - 1; index >= startIndex; index--) {
    tokens += entryMessages(entries[index] as SessionEntry).reduce((sum, message) => sum + estimateTokens(message), 0);
    if (tokens < keepRecentTokens) continue;
    const start = firstStart(index);
    cut = start === -1 ? entries.slice(0, endIndex).findLastIndex(mayStartWith) : start;
    break;
  }
  // Entries without messages stay with the entry that follows them.
  while (cut > startIndex && entryMessages(entries[cut - 1] as SessionEntry).length === 0) cut--;
  const turnStartIndex = startsTurn(entries[cut]) ? -1 : findTurnStartIndex(entries, cut, startIndex);
  return { firstKeptEntryIndex: cut, turnStartIndex, isSplitTurn: turnStartIndex !== -1 };
}
