import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import { estimateRequest } from '../../model/token-estimate.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { CompactionEndEvent, CompactionResult, Model } from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import { contextUsage } from '../context/context-usage.ts';
import { sentMessages } from '../context/model-request.ts';
import { type PromptFacts, type PromptParts, systemPrompt } from '../context/system-prompt.ts';
import type { TokenScale } from '../context/token-scale.ts';
import type { CompactionFailure, SessionHooks } from '../hooks.ts';
import type { ModelChoice } from '../model-choice.ts';
import type { Activity } from '../run/activity.ts';
import type { AutoFeatures } from '../run/recovery.ts';
import type { EventSink } from '../run/run.ts';
import { StorageFailure, type Transcript } from '../transcript.ts';
import type { Compaction } from './compaction.ts';
import { helpfulSize, thresholdOf } from './limits.ts';

/** Dependencies of a compaction. */
export interface CompactorParts {
  readonly transcript: Transcript;
  readonly registry: ModelRegistry;
  readonly events: EventSink;
  readonly activity: Activity;
  readonly hooks: SessionHooks;
  readonly choice: () => ModelChoice;
  readonly settings: () => Settings;
  readonly automatic: AutoFeatures;
  readonly promptFacts: (parts?: PromptParts) => PromptFacts;
  readonly scale: TokenScale;
}

/** Reason and options of one compaction. */
export interface CompactionRequest {
  readonly reason: CompactionEndEvent['reason'];
  /** Whether the model is called again afterwards. */
  readonly willRetry?: boolean;
  readonly customInstructions?: string | undefined;
  readonly signal: AbortSignal;
}

// Error prefixes in `compaction_end`, by reason.
const errorPrefixes = {
  manual: 'Compaction failed',
  threshold: 'Auto-compaction failed',
  overflow: 'Context overflow recovery failed',
} as const;

/** Replaces the old part of the conversation by a summary. Nothing changes before the summary is stored. */
export class Compactor {
  readonly #parts: CompactorParts;
  #isBusy = false;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Whether the context is so full that the next assistant message may not fit. */
  get isDue(): boolean {
    const { choice, transcript, scale, settings } = this.#parts;
    const { model } = choice();
    const usage = model && contextUsage(transcript.messages, model, scale.slope(model));
    if (!model || !usage) return false;
    const tokens = usage.tokens ?? scale.tokens(this.estimateRequest(model), model);
    return tokens > thresholdOf(model, settings());
  }

  /** Rejects with the `Refusal` of `compact` when there is nothing to summarise. */
  async requirePossible(): Promise<void> {
    (await this.#newCompaction()).plan();
  }

  async isPossible(): Promise<boolean> {
    return (await this.#newCompaction()).isPossible;
  }

  /** Whether a compaction is possible and would replace enough messages to be worth its cost. */
  async isUseful(): Promise<boolean> {
    return (await this.#newCompaction()).isUseful;
  }

  /** Compacts between `compaction_start` and `compaction_end`, which are always published. Rejects with a `Refusal`. */
  async compact(request: CompactionRequest): Promise<CompactionResult> {
    const { events, activity } = this.#parts;
    const { reason, willRetry = false, signal } = request;
    let compaction: Compaction | undefined;
    this.#isBusy = true;
    events.publish({ type: 'compaction_start', reason });
    try {
      const result = await activity.during('compaction', async () => {
        compaction = await this.#newCompaction();
        return compaction.run(request);
      });
      const notice = reason === 'threshold' ? this.#futilityNotice() : undefined;
      const noticeField = notice === undefined ? {} : { notice };
      events.publish({ type: 'compaction_end', reason, result, aborted: false, willRetry, ...noticeField });
      return result;
    } catch (error) {
      const refusal = signal.aborted ? new CompactionCancelled() : asRefusal(error);
      const aborted = refusal instanceof CompactionCancelled;
      const errorField = aborted ? {} : { errorMessage: `${errorPrefixes[reason]}: ${refusal.message}` };
      events.publish({ type: 'compaction_end', reason, result: null, aborted, willRetry: false, ...errorField });
      const failure = { reason, aborted, willRetry, fromHook: compaction?.isFromHook ?? false, ...errorField };
      await this.#reportFailure(failure, signal);
      throw error instanceof StorageFailure ? error : refusal;
    } finally {
      this.#isBusy = false;
    }
  }

  /** Why no automatic compaction follows; undefined if the compaction left enough room. */
  #futilityNotice(): string | undefined {
    const { choice, scale, settings } = this.#parts;
    const { model } = choice();
    if (!model || model.contextWindow <= 0) return undefined;
    const tokens = scale.tokens(this.estimateRequest(model), model);
    const largest = helpfulSize(model, settings());
    if (tokens <= largest) return undefined;
    return (
      `After the compaction the context still needs about ${tokens} tokens, more than ${largest} of the ` +
      `${model.contextWindow} that ${model.id} has. No automatic compaction follows before one can get below that, or the next request does ` +
      'not fit.'
    );
  }

  /** Estimates the next request, before hooks. */
  estimateRequest(model: Model): number {
    const { promptFacts, scale, settings, transcript } = this.#parts;
    const facts = promptFacts();
    const request = { model, systemPrompt: systemPrompt(facts), tools: facts.tools };
    const { compaction } = settings();
    return estimateRequest({
      ...request,
      messages: sentMessages(transcript.messages, { ...request, compaction, scale }),
    });
  }

  async #newCompaction(): Promise<Compaction> {
    const { Compaction } = await import('./compaction.ts');
    return new Compaction(this.#parts);
  }

  async #reportFailure(failure: CompactionFailure, signal: AbortSignal): Promise<void> {
    const hookDone = this.#parts.hooks.compactFailed?.(failure)?.catch(() => {});
    if (hookDone !== undefined) await unlessAborted(hookDone, signal);
  }
}

const asRefusal = (error: unknown) =>
  error instanceof Refusal ? error : new Refusal('internal', messageOf(error), { cause: error });

/** The compaction was aborted, or a hook cancelled it. */
export class CompactionCancelled extends Refusal {
  constructor() {
    super('agent_busy', 'Compaction cancelled');
  }
}
