import { setTimeout as wait } from 'node:timers/promises';
import { ModelFailure } from '../../model/request.ts';
import { Refusal } from '../../protocol/errors.ts';
import type {
  AgentSettledEvent,
  AssistantMessage,
  CompactionEndEvent,
  Model,
  Usage,
} from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import type { Compactor } from '../compaction/compactor.ts';
import { requestTokens } from '../context/context-usage.ts';
import type { TokenScale } from '../context/token-scale.ts';
import type { Transcript } from '../transcript.ts';
import type { Activity } from './activity.ts';
import type { Budget } from './budget.ts';
import type { Retries, Retry } from './retry.ts';
import type { EventSink } from './run.ts';

/** The fields of `agent_settled` about an HTTP response. */
export type HttpFailure = Pick<AgentSettledEvent, 'httpStatus' | 'retryAfterMs'>;

/** Steps that a run takes without a command, unless they are disabled. */
export interface AutoFeatures {
  compaction: boolean;
  retry: boolean;
}

/** Recovery from a failed model call: retry later, or compact and retry. */
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
  readonly scale: TokenScale;
}

/** A request that was sent, as estimated. */
export interface SentRequest {
  readonly model: Model;
  readonly estimated: number;
}

/** Recovers a run from model failures and from a full context. */
export class Recovery {
  readonly #parts: RecoveryParts;
  /** Set after the first failure. */
  #retries: Retries | undefined;
  #failure: ModelFailure | undefined;
  #hasCompacted = false;
  /** Requests in a row that were shortened because the provider rejected the one before. */
  #shortenings = 0;
  #sent: SentRequest | undefined;
  /** After a failed threshold compaction the run does not try another. */
  #thresholdFailed = false;
  #retryWait: AbortController | undefined;
  #compacting: AbortController | undefined;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Notes the request of the next assistant message; undefined if it is not sent. */
  onRequest(sent: SentRequest | undefined): void {
    this.#sent = sent;
  }

  onModelFailure(failure: ModelFailure): void {
    this.#failure = failure;
  }

  /** Whether the next model call repeats one that failed. */
  get isRepeating(): boolean {
    return this.#failure !== undefined;
  }

  /** The HTTP response behind the last model failure, if it was one. */
  get httpFailure(): HttpFailure {
    const { status, retryAfterMs } = this.#failure ?? {};
    return {
      ...(status === undefined ? {} : { httpStatus: status }),
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    };
  }

  /** Ends the retries after an assistant message that did not fail; one that a hook cut off did not fail either. */
  onMessage({ stopReason, usage }: AssistantMessage): void {
    if (stopReason === 'error') return;
    if (this.#sent) this.#parts.scale.record({ ...this.#sent, reported: requestTokens(usage) });
    if (stopReason === 'aborted' && this.#parts.signal.aborted)
      this.#endRetries({ success: false, finalError: CANCELLED });
    else {
      this.#endRetries({ success: true });
      // A compaction that did not help is not repeated in this run.
      this.#hasCompacted &&= this.#parts.compactor.isDue;
    }
  }

  /** Chooses a remedy for a failed assistant message; undefined if there is none. */
  async remedyFor({ errorCode = 'model_error', errorMessage = '' }: AssistantMessage): Promise<Remedy | undefined> {
    const { automatic, settings } = this.#parts;
    const failure = this.#failure ?? new ModelFailure(errorCode, errorMessage);
    if (failure.code === 'context_overflow' || failure.code === 'context_full') {
      return automatic.compaction ? this.#remedyForFullContext(failure) : undefined;
    }
    if (!automatic.retry) return undefined;
    this.#retries ??= new (await import('./retry.ts')).Retries(settings.retry);
    const retry = this.#retries.next(failure);
    return retry && { kind: 'retry', retry };
  }

  /** Compacts once, else shortens what is sent as long as that makes the request smaller. */
  async #remedyForFullContext({ message }: ModelFailure): Promise<Remedy | undefined> {
    const { compactor, scale } = this.#parts;
    const sent = this.#sent;
    const canCompact = async () => !this.#hasCompacted && (await compactor.isPossible());
    if (await canCompact()) return { kind: 'compact' };
    if (!sent) return undefined;
    scale.recordOverflow(sent.estimated, sent.model);
    if (await canCompact()) return { kind: 'compact' };
    if (this.#shortenings === MAX_SHORTENINGS || compactor.estimateRequest(sent.model) >= sent.estimated)
      return undefined;
    const attempt = ++this.#shortenings;
    return { kind: 'retry', retry: { attempt, maxAttempts: MAX_SHORTENINGS, delayMs: 0, errorMessage: message } };
  }

  /** Applies the remedy; returns whether to call the model again. */
  async apply(remedy: Remedy): Promise<boolean> {
    if (remedy.kind === 'retry') return this.#waitForRetry(remedy.retry);
    this.#parts.transcript.dropAssistantMessage();
    this.#hasCompacted = true;
    return this.#compact('overflow');
  }

  /** Publishes the end of retries or of the compaction that did not help, and returns the final error. */
  giveUp({ errorCode, errorMessage = '' }: AssistantMessage): string {
    const { events } = this.#parts;
    const delayProblem = this.#failure && this.#retries?.delayProblem(this.#failure);
    const finalError = delayProblem === undefined ? errorMessage : `${errorMessage} (${delayProblem})`;
    this.#endRetries({ success: false, finalError });
    if ((errorCode === 'context_overflow' || errorCode === 'context_full') && this.#hasCompacted) {
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

  /** Called when the run ends: a retry that was announced but never made ends too. */
  end(): void {
    this.#endRetries({ success: false, finalError: CANCELLED });
  }

  /** Cancels the wait for the next retry, and the retry. */
  cancelRetry(): void {
    this.#retryWait?.abort();
  }

  get isRetrying(): boolean {
    return this.#retryWait !== undefined;
  }

  /** Retries of the last model call so far. */
  get retryAttempt(): number {
    return this.#retries?.attempt || this.#shortenings;
  }

  /** Cancels a running compaction; the run continues without it. */
  cancelCompaction(): void {
    this.#compacting?.abort();
  }

  /** Compacts if the next assistant message may not fit. Failures are only published. */
  async compactIfDue(): Promise<void> {
    const { automatic, budget, compactor } = this.#parts;
    if (!automatic.compaction || this.#thresholdFailed || budget.exhaustedReason !== undefined) return;
    if (compactor.isDue && (await compactor.isUseful())) {
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
    const attempt = this.#retries?.attempt || this.#shortenings;
    this.#failure = undefined;
    this.#shortenings = 0;
    this.#retries?.reset();
    if (attempt > 0) this.#parts.events.publish({ type: 'auto_retry_end', attempt, ...outcome });
  }
}

const CANCELLED = 'Retry cancelled';

// Each attempt is less than two thirds of the one before.
const MAX_SHORTENINGS = 6;

const STILL_TOO_LONG =
  'Context overflow recovery failed after one compact-and-retry attempt. Try reducing context or switching to a larger-context model.';
