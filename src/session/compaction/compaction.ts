import { unlessAborted } from '../../agent/unless-aborted.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { AgentMessage, CompactionEntry, CompactionResult, Model } from '../../protocol/generated/vocabulary.ts';
import { contextUsage, estimateContext } from '../context/context-usage.ts';
import { overheadOf } from '../context/model-request.ts';
import { systemPrompt } from '../context/system-prompt.ts';
import { requireModel } from '../model-choice.ts';
import { CompactionCancelled, type CompactionRequest, type CompactorParts } from './compactor.ts';
import { touchedFiles } from './files.ts';
import { type ContextLimits, limitsFor, maxRecordLength, minReplacedTokens } from './limits.ts';
import { recordsOf } from './record.ts';
import { type BranchSplit, splitBranch } from './split.ts';
import { summariseAll, summariserOf, totalUsage } from './summarise.ts';
import { summaryText } from './summary-text.ts';

// A compaction entry before it is stored.
type Draft = Pick<CompactionEntry, 'summary' | 'firstKeptEntryId' | 'tokensBefore' | 'details' | 'usage' | 'fromHook'>;

/** Runs one compaction, from the split to the stored entry. */
export class Compaction {
  readonly #parts: CompactorParts;
  #isFromHook = false;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  get isFromHook(): boolean {
    return this.#isFromHook;
  }

  /** Whether there is anything to summarise. */
  get isPossible(): boolean {
    const { model } = this.#parts.choice();
    return model !== null && !this.#isCompacted && this.#split(model) !== undefined;
  }

  /** Whether a compaction replaces enough. The first of a branch always does: the estimates may be too low. */
  get isUseful(): boolean {
    const { model } = this.#parts.choice();
    const split = model && !this.#isCompacted ? this.#split(model) : undefined;
    if (!model || !split) return false;
    const replaced = estimateContext([...split.history, ...split.prefix]);
    return split.previousSummary === undefined || replaced >= minReplacedTokens(model);
  }

  /** Compacts. Rejects when there is nothing to summarise, and when the summary fails. */
  async run(request: CompactionRequest): Promise<CompactionResult> {
    const { choice, hooks, transcript } = this.#parts;
    const { reason, willRetry = false, signal } = request;
    const model = requireModel(choice());
    if (this.#isCompacted) throw new Refusal('not_found', 'Already compacted');
    const split = this.#split(model);
    if (!split) throw new Refusal('not_found', 'Nothing to compact (session too small)');
    const draft = (await this.#fromHook(split, model, request)) ?? (await this.#write(split, model, request));
    if (signal.aborted) throw new CompactionCancelled();
    const entry = transcript.append({ type: 'compaction', ...draft }) as CompactionEntry;
    await transcript.sync();
    const done = { entry, fromHook: this.#isFromHook, reason, willRetry };
    const hookDone = hooks.afterCompact?.(done)?.catch(() => {});
    if (hookDone !== undefined) await unlessAborted(hookDone, signal);
    const { summary, firstKeptEntryId, tokensBefore, details, usage } = draft;
    return {
      summary,
      firstKeptEntryId,
      tokensBefore,
      estimatedTokensAfter: this.#estimateTokens(),
      ...(details === undefined ? {} : { details }),
      ...(usage ? { usage } : {}),
    };
  }

  /** The summary that a hook returns instead of the model's. */
  async #fromHook(split: BranchSplit, model: Model, request: CompactionRequest): Promise<Draft | undefined> {
    const { reason, willRetry = false, customInstructions, signal } = request;
    const { automatic, hooks, transcript } = this.#parts;
    const { firstKeptEntryId, history, prefix, previousSummary, fileOps } = split;
    const hookCall = hooks.beforeCompact?.(
      {
        branch: transcript.log.branch(),
        reason,
        willRetry,
        firstKeptEntryId,
        messagesToSummarize: history,
        turnPrefixMessages: prefix,
        isSplitTurn: prefix.length > 0,
        previousSummary,
        fileOps,
        tokensBefore: this.#tokensBefore(),
        settings: { enabled: automatic.compaction, ...this.#limits(model) },
        customInstructions,
      },
      signal,
    );
    const hookResult = hookCall && (await unlessAborted(hookCall, signal));
    if (!hookResult) return undefined;
    if ('cancel' in hookResult) throw new CompactionCancelled();
    this.#isFromHook = true;
    return { ...hookResult, fromHook: true };
  }

  async #write(split: BranchSplit, model: Model, { customInstructions, signal }: CompactionRequest): Promise<Draft> {
    const limits = this.#limits(model);
    // The file is synced before every model call.
    await this.#parts.transcript.sync();
    // When one part fails, the other is aborted.
    const finished = new AbortController();
    const writer = (share: number) =>
      summariserOf(this.#parts, {
        model,
        maxTokens: Math.floor(limits.reserveTokens * share),
        signal: AbortSignal.any([signal, finished.signal]),
      });
    const { history, prefix, previousSummary } = split;
    const files = touchedFiles(split.fileOps);
    const tokensBefore = this.#tokensBefore();
    const records = (messages: readonly AgentMessage[]) =>
      messages.length === 0 ? [] : recordsOf(messages, maxRecordLength(model, limits));
    const past = summariseAll(records(history), { kind: 'history', previousSummary, customInstructions }, writer(0.8));
    const turn = summariseAll(records(prefix), { kind: 'prefix' }, writer(0.5));
    const [pastParts, turnParts] = await Promise.all([
      withErrorPrefix(past, 'Summarization failed'),
      withErrorPrefix(turn, 'Turn prefix summarization failed'),
    ]).finally(() => finished.abort());
    return {
      // A previous summary without new history stays as it is.
      summary: summaryText(pastParts.at(-1)?.text ?? previousSummary, turnParts.at(-1)?.text, files),
      firstKeptEntryId: split.firstKeptEntryId,
      tokensBefore,
      details: files,
      usage: totalUsage([...pastParts, ...turnParts]),
    };
  }

  get #isCompacted(): boolean {
    const { log } = this.#parts.transcript;
    return log.leafId !== null && log.entry(log.leafId)?.type === 'compaction';
  }

  #split(model: Model): BranchSplit | undefined {
    return splitBranch(this.#parts.transcript.readBranch(), this.#limits(model).keepRecentTokens);
  }

  /** At most half of what system prompt and tools leave is kept, so that a summary helps. */
  #limits(model: Model): ContextLimits {
    const { promptFacts, settings } = this.#parts;
    const limits = limitsFor(model, settings().compaction);
    const facts = promptFacts();
    const overhead = overheadOf({ systemPrompt: systemPrompt(facts), tools: facts.tools });
    const room = Math.max(0, model.contextWindow - limits.reserveTokens - overhead);
    return { ...limits, keepRecentTokens: Math.min(limits.keepRecentTokens, Math.floor(room / 2)) };
  }

  #tokensBefore(): number {
    const { choice, transcript } = this.#parts;
    return contextUsage(transcript.messages, choice().model)?.tokens ?? this.#estimateTokens();
  }

  #estimateTokens(): number {
    return estimateContext(this.#parts.transcript.messages);
  }
}

async function withErrorPrefix<T>(work: Promise<T>, prefix: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${prefix}: ${messageOf(error)}`, { cause: error });
  }
}
