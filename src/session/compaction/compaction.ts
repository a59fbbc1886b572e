import { unlessAborted } from '../../agent/unless-aborted.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { CompactionEntry, CompactionResult, Model } from '../../protocol/generated/vocabulary.ts';
import { contextUsage, estimateContext, tokensAfterCompaction } from '../context/context-usage.ts';
import { overheadOf } from '../context/model-request.ts';
import { systemPrompt } from '../context/system-prompt.ts';
import { requireModel } from '../model-choice.ts';
import { CompactionCancelled, type CompactionRequest, type CompactorParts } from './compactor.ts';
import { touchedFiles } from './files.ts';
import {
  type ContextLimits,
  helpfulSize,
  limitsFor,
  maxRecordBytes,
  minReplacedTokens,
  thresholdOf,
} from './limits.ts';
import { type BranchSplit, splitBranch } from './split.ts';
import { summariseMessages, summariserOf, totalUsage } from './summarise.ts';
import { summaryText } from './summary-text.ts';

// A compaction entry before it is stored.
type Draft = Pick<CompactionEntry, 'summary' | 'firstKeptEntryId' | 'tokensBefore' | 'details' | 'usage' | 'fromHook'>;

// Even where the provider leaves no room, the latest messages are kept.
const MIN_KEPT_SHARE = 1 / 32;

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
    return split.previousSummary === undefined || this.#helpsAgain(split, model);
  }

  /** Whether the latest compaction has helped, and another one replaces much and leaves room below the threshold. */
  #helpsAgain(split: BranchSplit, model: Model): boolean {
    const { settings, scale, transcript } = this.#parts;
    const largest = helpfulSize(model, settings());
    const slope = scale.slope(model);
    const replaced = estimateContext([...split.history, ...split.prefix]);
    if (replaced * slope < minReplacedTokens(model)) return false;
    const kept = this.#overhead() + estimateContext(transcript.messages) - replaced;
    if (scale.tokens(kept, model) > largest) return false;
    return (tokensAfterCompaction(transcript.messages, slope) ?? 0) <= largest;
  }

  /** The split of the branch into a replaced and a kept part. Throws a `Refusal` when there is nothing to summarise. */
  plan(): { readonly model: Model; readonly split: BranchSplit } {
    const model = requireModel(this.#parts.choice());
    if (this.#isCompacted) throw new Refusal('not_found', 'Already compacted');
    const split = this.#split(model);
    if (!split) throw new Refusal('not_found', 'Nothing to compact (session too small)');
    return { model, split };
  }

  /** Compacts. Rejects when there is nothing to summarise, and when the summary fails. */
  async run(request: CompactionRequest): Promise<CompactionResult> {
    const { hooks, transcript } = this.#parts;
    const { reason, willRetry = false, signal } = request;
    const { model, split } = this.plan();
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

  async #write(
    split: BranchSplit,
    model: Model,
    { customInstructions, reason, signal }: CompactionRequest,
  ): Promise<Draft> {
    const limits = this.#limits(model);
    await this.#parts.transcript.secure(signal);
    // When one part fails, the other is aborted.
    const finished = new AbortController();
    const writer = (share: number) =>
      summariserOf(this.#parts, {
        model,
        maxTokens: Math.floor(limits.reserveTokens * share),
        source: { source: 'compaction', reason },
        signal: AbortSignal.any([signal, finished.signal]),
      });
    const { history, prefix, previousSummary } = split;
    const files = touchedFiles(split.fileOps);
    const tokensBefore = this.#tokensBefore();
    const maxBytes = maxRecordBytes(model, limits, this.#parts.scale.slope(model));
    const past = summariseMessages(
      { kind: 'history', messages: history, maxBytes, previousSummary, customInstructions },
      writer(0.8),
    );
    const turn = summariseMessages({ kind: 'prefix', messages: prefix, maxBytes }, writer(0.5));
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

  /** In estimated tokens. At most half of what system prompt and tools leave is kept, so that a summary helps. */
  #limits(model: Model): ContextLimits {
    const { scale, settings } = this.#parts;
    const limits = limitsFor(model, settings().compaction);
    const usable = scale.estimateFor(thresholdOf(model, settings()), model);
    const room = Math.max(0, usable - this.#overhead());
    const least = model.contextWindow * MIN_KEPT_SHARE;
    const keep = Math.min(limits.keepRecentTokens / scale.slope(model), Math.max(room / 2, least));
    return { ...limits, keepRecentTokens: Math.floor(keep) };
  }

  #overhead(): number {
    const facts = this.#parts.promptFacts();
    return overheadOf({ systemPrompt: systemPrompt(facts), tools: facts.tools });
  }

  #tokensBefore(): number {
    const { choice, scale, transcript } = this.#parts;
    const { model } = choice();
    return contextUsage(transcript.messages, model, model ? scale.slope(model) : 1)?.tokens ?? this.#estimateTokens();
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
