import { setTimeout as wait } from 'node:timers/promises';
import { ModelFailure } from '../model/request.ts';
import { Refusal } from '../protocol/errors.ts';
import type { AssistantMessage, CompactionEndEvent, Usage } from '../protocol/generated/vocabulary.ts';
import type { Settings } from '../store/settings.ts';
import type { Activity } from './activity.ts';
import type { Budget } from './budget.ts';
import type { Compactor } from './compaction/compactor.ts';
import type { Retries, Retry } from './retry.ts';
import type { EventSink } from './run.ts';
import type { Transcript } from './transcript.ts';

/** What happens by itself, unless somebody has switched it off. */
export interface AutoFeatures {
  compaction: boolean;
  retry: boolean;
}

/** What is done about an answer that failed: ask again later, or about less. */
export type Remedy = { readonly kind: 'retry'; readonly retry: Retry } | { readonly kind: 'compact' };

export interface RecoveryParts {
  readonly transcript: Transcript;
  readonly events: EventSink;
  readonly activity: Activity;
  readonly compactor: Compactor;
  readonly automatic: AutoFeatures;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly budget: Budget;
}

/** Sees a run through failures of its model and through a context that fills up. */
export class Recovery {
  readonly #parts: RecoveryParts;
  /** There once an answer has failed. */
  #retries: Retries | undefined;
  #failure: ModelFailure | undefined;
  #hasCompacted = false;
  /** One that could not be made will not be made a turn later either. */
  #thresholdFailed = false;
  #retryWait: AbortController | undefined;
  #compacting: AbortController | undefined;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** What the provider says about an answer that failed. */
  onModelFailure(failure: ModelFailure): void {
    this.#failure = failure;
  }

  /** An answer is whole, or was broken off by a hook, which is no failure either. */
  onMessage({ stopReason }: AssistantMessage): void {
    if (stopReason === 'error') return;
    if (stopReason === 'aborted' && this.#parts.signal.aborted)
      this.#endRetries({ success: false, finalError: CANCELLED });
    else {
      this.#endRetries({ success: true });
      this.#hasCompacted = false;
    }
  }

  /** What can be done about the failure of the last answer, if anything. */
  async remedyFor({ errorCode = 'model_error', errorMessage = '' }: AssistantMessage): Promise<Remedy | undefined> {
    const { automatic, compactor, settings } = this.#parts;
    const failure = this.#failure ?? new ModelFailure(errorCode, errorMessage);
    if (failure.code === 'context_overflow') {
      const mayCompact = automatic.compaction && !this.#hasCompacted;
      return mayCompact && (await compactor.isPossible()) ? { kind: 'compact' } : undefined;
    }
    if (!automatic.retry) return undefined;
    this.#retries ??= new (await import('./retry.ts')).Retries(settings.retry);
    const retry = this.#retries.next(failure);
    return retry && { kind: 'retry', retry };
  }

  /** Does it; answers whether the model is to be asked again. */
  async apply(remedy: Remedy): Promise<boolean> {
    if (remedy.kind === 'retry') return this.#waitForRetry(remedy.retry);
    this.#parts.transcript.dropAssistantMessage();
    this.#hasCompacted = true;
    return this.#compact('overflow');
  }

  /**
   * Nothing more can be done about a failure: clients that were told of retries, or of a compaction, hear so. Answers
   * what has failed in the end.
   */
  giveUp({ errorCode, errorMessage = '' }: AssistantMessage): string {
    const { events } = this.#parts;
    const delayProblem = this.#failure && this.#retries?.delayProblem(this.#failure);
    const finalError = delayProblem === undefined ? errorMessage : `${errorMessage} (${delayProblem})`;
    this.#endRetries({ success: false, finalError });
    if (errorCode === 'context_overflow' && this.#hasCompacted) {
      events.publish({
        type: 'compaction_end',
        reason: 'overflow',
        result: null,
        aborted: false,
        willRetry: false,
        errorMessage: STILL_TOO_LONG,
      });
    }
    return finalError;
  }

  /** The run ends. A retry that was announced and never made is over, too. */
  end(): void {
    this.#endRetries({ success: false, finalError: CANCELLED });
  }

  /** Ends the wait for the next try; there is none then. */
  cancelRetry(): void {
    this.#retryWait?.abort();
  }

  /** Whether the next try is being waited for. */
  get isRetrying(): boolean {
    return this.#retryWait !== undefined;
  }

  /** How often the last answer has been asked for again. */
  get retryAttempt(): number {
    return this.#retries?.attempt ?? 0;
  }

  /** Ends a compaction that is under way; the run does without it. */
  cancelCompaction(): void {
    this.#compacting?.abort();
  }

  /** Compacts where the next answer may not fit any more. What goes wrong is told by events alone. */
  async compactIfDue(): Promise<void> {
    const { automatic, budget, compactor } = this.#parts;
    if (!automatic.compaction || this.#thresholdFailed || budget.exhaustedReason !== undefined) return;
    if (compactor.isDue && (await compactor.isPossible())) {
      this.#thresholdFailed = !(await this.#compact('threshold'));
    }
  }

  async #compact(reason: CompactionEndEvent['reason']): Promise<boolean> {
    const { budget, compactor } = this.#parts;
    this.#compacting = new AbortController();
    const signal = AbortSignal.any([this.#parts.signal, this.#compacting.signal]);
    try {
      const { usage } = await compactor.compact({ reason, willRetry: reason === 'overflow', signal });
      if (usage) budget.addUsage(usage as Usage);
      return true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return false;
    } finally {
      this.#compacting = undefined;
    }
  }

  async #waitForRetry(retry: Retry): Promise<boolean> {
    const { events, activity, transcript, signal } = this.#parts;
    const retryWait = new AbortController();
    this.#retryWait = retryWait;
    events.publish({ type: 'auto_retry_start', ...retry });
    transcript.dropAssistantMessage();
    try {
      const until = AbortSignal.any([signal, retryWait.signal]);
      await activity.during('retry', () => wait(retry.delayMs, undefined, { signal: until }));
      return true;
    } catch {
      this.#endRetries({ success: false, finalError: CANCELLED });
      return false;
    } finally {
      this.#retryWait = undefined;
    }
  }

  #endRetries(outcome: { success: boolean; finalError?: string }): void {
    const attempt = this.#retries?.attempt ?? 0;
    this.#failure = undefined;
    this.#retries?.reset();
    if (attempt > 0) this.#parts.events.publish({ type: 'auto_retry_end', attempt, ...outcome });
  }
}

const CANCELLED = 'Retry cancelled';

const STILL_TOO_LONG =
  'Context overflow recovery failed after one compact-and-retry attempt. Try reducing context or switching to a larger-context model.';
