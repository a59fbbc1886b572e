import { unlessAborted } from '../../agent/unless-aborted.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { AgentMessage, CompactionEntry, CompactionResult, Model } from '../../protocol/generated/vocabulary.ts';
import { contextUsage, estimateContext } from '../context-usage.ts';
import { requireModel } from '../model-choice.ts';
import { CompactionCancelled } from './cancelled.ts';
import type { CompactorParts, Occasion } from './compactor.ts';
import { touchedFiles } from './files.ts';
import { limitsFor, longestRecord } from './limits.ts';
import { type Plan, planCompaction } from './plan.ts';
import { recordsOf } from './record.ts';
import { summariseAll, summariserOf, usageOf } from './summarise.ts';
import { summaryText } from './summary-text.ts';

/** What a summary is made of before it is stored. */
type Draft = Pick<CompactionEntry, 'summary' | 'firstKeptEntryId' | 'tokensBefore' | 'details' | 'usage' | 'fromHook'>;

/** One compaction, from the plan to the entry. */
export class Compaction {
  readonly #parts: CompactorParts;
  #isFromHook = false;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /** Whether a hook has written the summary. */
  get isFromHook(): boolean {
    return this.#isFromHook;
  }

  /** Whether there is anything to summarise. */
  get isPossible(): boolean {
    const { model } = this.#parts.choice();
    return model !== null && !this.#isCompacted && this.#plan(model) !== undefined;
  }

  /** Does it; rejects where there is nothing to do, and where it fails. */
  async run(occasion: Occasion): Promise<CompactionResult> {
    const { choice, hooks, transcript } = this.#parts;
    const { reason, willRetry = false, signal } = occasion;
    const model = requireModel(choice());
    if (this.#isCompacted) throw new Refusal('not_found', 'Already compacted');
    const plan = this.#plan(model);
    if (!plan) throw new Refusal('not_found', 'Nothing to compact (session too small)');
    const draft = (await this.#fromHook(plan, model, occasion)) ?? (await this.#written(plan, model, occasion));
    if (signal.aborted) throw new CompactionCancelled();
    const entry = transcript.append({ type: 'compaction', ...draft }) as CompactionEntry;
    await transcript.sync();
    const done = { entry, fromHook: this.#isFromHook, reason, willRetry };
    const heard = hooks.afterCompact?.(done)?.catch(() => {});
    if (heard !== undefined) await unlessAborted(heard, signal);
    const { summary, firstKeptEntryId, tokensBefore, details, usage } = draft;
    return {
      summary,
      firstKeptEntryId,
      tokensBefore,
      estimatedTokensAfter: this.#estimated(),
      ...(details === undefined ? {} : { details }),
      ...(usage ? { usage } : {}),
    };
  }

  /** What a hook says instead, if there is one. */
  async #fromHook(plan: Plan, model: Model, occasion: Occasion): Promise<Draft | undefined> {
    const { reason, willRetry = false, customInstructions, signal } = occasion;
    const { automatic, hooks, settings, transcript } = this.#parts;
    const { firstKeptEntryId, history, prefix, previousSummary, fileOps } = plan;
    const asked = hooks.beforeCompact?.(
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
        settings: { enabled: automatic.compaction, ...limitsFor(model, settings().compaction) },
        customInstructions,
      },
      signal,
    );
    const answer = asked && (await unlessAborted(asked, signal));
    if (!answer) return undefined;
    if ('cancel' in answer) throw new CompactionCancelled();
    this.#isFromHook = true;
    return { ...answer, fromHook: true };
  }

  async #written(plan: Plan, model: Model, { customInstructions, signal }: Occasion): Promise<Draft> {
    const limits = limitsFor(model, this.#parts.settings().compaction);
    // Where one part cannot be written, nobody wants the other.
    const over = new AbortController();
    const by = (share: number) =>
      summariserOf(this.#parts, {
        model,
        maxTokens: Math.floor(limits.reserveTokens * share),
        signal: AbortSignal.any([signal, over.signal]),
      });
    const { history, prefix, previousSummary } = plan;
    const files = touchedFiles(plan.fileOps);
    const tokensBefore = this.#tokensBefore();
    const records = (messages: readonly AgentMessage[]) =>
      messages.length === 0 ? [] : recordsOf(messages, longestRecord(model, limits));
    const past = summariseAll(records(history), { kind: 'history', previousSummary, customInstructions }, by(0.8));
    const turn = summariseAll(records(prefix), { kind: 'prefix' }, by(0.5));
    const [whole, begun] = await Promise.all([
      named(past, 'Summarization failed'),
      named(turn, 'Turn prefix summarization failed'),
    ]).finally(() => over.abort());
    return {
      // What was summarised before and has nothing new beside it stays as it is.
      summary: summaryText(whole.at(-1)?.text ?? previousSummary, begun.at(-1)?.text, files),
      firstKeptEntryId: plan.firstKeptEntryId,
      tokensBefore,
      details: files,
      usage: usageOf([...whole, ...begun]),
    };
  }

  get #isCompacted(): boolean {
    const { log } = this.#parts.transcript;
    return log.leafId !== null && log.entry(log.leafId)?.type === 'compaction';
  }

  #plan(model: Model): Plan | undefined {
    const { settings, transcript } = this.#parts;
    return planCompaction(transcript.log.branch(), limitsFor(model, settings().compaction).keepRecentTokens);
  }

  #tokensBefore(): number {
    const { choice, transcript } = this.#parts;
    return contextUsage(transcript.messages, choice().model)?.tokens ?? this.#estimated();
  }

  #estimated(): number {
    return estimateContext(this.#parts.transcript.messages);
  }
}

async function named<T>(work: Promise<T>, what: string): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}
