import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelRegistry } from '../../model/registry.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type {
  CompactionEndEvent,
  CompactionEntry,
  CompactionResult,
  Model,
  Usage,
} from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import type { Activity } from '../activity.ts';
import { contextUsage, estimateTokens } from '../context-usage.ts';
import type { SessionHooks } from '../hooks.ts';
import { type Choice, requireModel } from '../model-choice.ts';
import type { Audience } from '../run.ts';
import type { Transcript } from '../transcript.ts';
import { limitsFor } from './limits.ts';
import { type Plan, planCompaction } from './plan.ts';
import { recordOf } from './record.ts';
import { type Summariser, summarise, type Written } from './summarise.ts';
import { summaryText } from './summary-text.ts';

/** What a compaction works with. */
export interface CompactorParts {
  readonly transcript: Transcript;
  readonly registry: ModelRegistry;
  readonly audience: Audience;
  readonly activity: Activity;
  readonly hooks: SessionHooks;
  readonly choice: () => Choice;
  readonly settings: () => Settings;
}

/** Why and how to compact. */
export interface Occasion {
  readonly reason: CompactionEndEvent['reason'];
  /** Whether the model is asked again afterwards. */
  readonly willRetry?: boolean;
  readonly customInstructions?: string | undefined;
  readonly signal: AbortSignal;
}

/** What a summary is made of before it is stored. */
type Draft = Pick<CompactionEntry, 'summary' | 'firstKeptEntryId' | 'tokensBefore' | 'details' | 'usage' | 'fromHook'>;

/** How the beginning of the error is worded that the end of a compaction tells. */
const failures = {
  manual: 'Compaction failed',
  threshold: 'Auto-compaction failed',
  overflow: 'Context overflow recovery failed',
} as const;

/** Puts a summary in the place of what was said long ago. Until it is stored nothing has changed. */
export class Compactor {
  readonly #parts: CompactorParts;
  #isBusy = false;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Whether the context is so full that the next answer may not fit. */
  get isDue(): boolean {
    const { choice, transcript, settings } = this.#parts;
    const { model } = choice();
    if (!model) return false;
    const tokens = contextUsage(transcript.messages, model)?.tokens ?? 0;
    return tokens > model.contextWindow - limitsFor(model, settings().compaction).reserveTokens;
  }

  /** Whether there is anything to summarise. */
  get isPossible(): boolean {
    const { model } = this.#parts.choice();
    return model !== null && !this.#isCompacted && this.#plan(model) !== undefined;
  }

  /** Compacts, between two events that clients hear in any case. Rejects with a `Refusal` that says why not. */
  async compact(occasion: Occasion): Promise<CompactionResult> {
    const { audience, activity } = this.#parts;
    const { reason, willRetry = false, signal } = occasion;
    this.#isBusy = true;
    audience.publish({ type: 'compaction_start', reason });
    try {
      const result = await activity.during('compaction', () => this.#compact(occasion));
      audience.publish({ type: 'compaction_end', reason, result, aborted: false, willRetry });
      return result;
    } catch (error) {
      const refusal = signal.aborted ? cancelled() : asRefusal(error);
      const aborted = refusal.message === CANCELLED;
      const told = aborted ? {} : { errorMessage: `${failures[reason]}: ${refusal.message}` };
      audience.publish({ type: 'compaction_end', reason, result: null, aborted, willRetry: false, ...told });
      throw refusal;
    } finally {
      this.#isBusy = false;
    }
  }

  async #compact(occasion: Occasion): Promise<CompactionResult> {
    const { choice, hooks, transcript } = this.#parts;
    const { signal } = occasion;
    const model = requireModel(choice());
    if (this.#isCompacted) throw new Refusal('not_found', 'Already compacted');
    const plan = this.#plan(model);
    if (!plan) throw new Refusal('not_found', 'Nothing to compact (session too small)');
    const draft = (await this.#fromHook(plan, occasion)) ?? (await this.#written(plan, model, occasion));
    if (signal.aborted) throw cancelled();
    const entry = transcript.append({ type: 'compaction', ...draft }) as CompactionEntry;
    await transcript.sync();
    await hooks.afterCompact?.({ entry, fromHook: draft.fromHook ?? false })?.catch(() => {});
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
  async #fromHook(plan: Plan, occasion: Occasion): Promise<Draft | undefined> {
    const { reason, willRetry = false, customInstructions, signal } = occasion;
    const { hooks, transcript } = this.#parts;
    const { firstKeptEntryId } = plan;
    const asked = hooks.beforeCompact?.(
      {
        branch: transcript.log.branch(),
        reason,
        willRetry,
        firstKeptEntryId,
        tokensBefore: this.#tokensBefore(),
        customInstructions,
      },
      signal,
    );
    const answer = asked && (await unlessAborted(asked, signal));
    if (!answer) return undefined;
    if ('cancel' in answer) throw cancelled();
    return { ...answer, fromHook: true };
  }

  async #written(plan: Plan, model: Model, { customInstructions, signal }: Occasion): Promise<Draft> {
    const { registry, settings, transcript } = this.#parts;
    const { reserveTokens } = limitsFor(model, settings().compaction);
    const by = (share: number): Summariser => ({
      registry,
      model,
      maxTokens: Math.floor(reserveTokens * share),
      sessionId: transcript.log.header.id,
      retry: settings().retry,
      signal,
    });
    const { history, prefix, previousSummary, files } = plan;
    const tokensBefore = this.#tokensBefore();
    const past =
      history.length === 0
        ? undefined
        : summarise({ record: recordOf(history), kind: 'history', previousSummary, customInstructions }, by(0.8));
    const turn = prefix.length === 0 ? undefined : summarise({ record: recordOf(prefix), kind: 'prefix' }, by(0.5));
    const [whole, begun] = await Promise.all([
      named(past, 'Summarization failed'),
      named(turn, 'Turn prefix summarization failed'),
    ]);
    return {
      // What was summarised before and has nothing new beside it stays as it is.
      summary: summaryText(whole?.text ?? previousSummary, begun?.text, files),
      firstKeptEntryId: plan.firstKeptEntryId,
      tokensBefore,
      details: files,
      usage: total([whole, begun]),
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
    return this.#parts.transcript.messages.reduce((sum, message) => sum + estimateTokens(message), 0);
  }
}

const CANCELLED = 'Compaction cancelled';

const cancelled = () => new Refusal('agent_busy', CANCELLED);

const asRefusal = (error: unknown) =>
  error instanceof Refusal ? error : new Refusal('internal', messageOf(error), { cause: error });

async function named(work: Promise<Written> | undefined, what: string): Promise<Written | undefined> {
  try {
    return await work;
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

function total(written: readonly (Written | undefined)[]): Usage {
  const usages = written.flatMap((one) => (one ? [one.usage] : []));
  const sum = (pick: (usage: Usage) => number) => usages.reduce((all, usage) => all + pick(usage), 0);
  return {
    input: sum((usage) => usage.input),
    output: sum((usage) => usage.output),
    cacheRead: sum((usage) => usage.cacheRead),
    cacheWrite: sum((usage) => usage.cacheWrite),
    totalTokens: sum((usage) => usage.totalTokens ?? 0),
    cost: {
      input: sum(({ cost }) => cost.input),
      output: sum(({ cost }) => cost.output),
      cacheRead: sum(({ cost }) => cost.cacheRead),
      cacheWrite: sum(({ cost }) => cost.cacheWrite),
      total: sum(({ cost }) => cost.total),
    },
  };
}
