import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { CompactionEndEvent, CompactionResult } from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import { contextUsage, estimateContext } from '../context/context-usage.ts';
import type { CompactionFailure, SessionHooks } from '../hooks.ts';
import type { ModelChoice } from '../model-choice.ts';
import type { Activity } from '../run/activity.ts';
import type { AutoFeatures } from '../run/recovery.ts';
import type { EventSink } from '../run/run.ts';
import { StorageFailure, type Transcript } from '../transcript.ts';
import type { Compaction } from './compaction.ts';
import { limitsFor } from './limits.ts';

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
    const { choice, transcript, settings } = this.#parts;
    const { model } = choice();
    const { messages } = transcript;
    const usage = contextUsage(messages, model);
    if (!model || !usage) return false;
    const tokens = usage.tokens ?? estimateContext(messages);
    return tokens > model.contextWindow - limitsFor(model, settings().compaction).reserveTokens;
  }

  async isPossible(): Promise<boolean> {
    return (await this.#newCompaction()).isPossible;
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
      events.publish({ type: 'compaction_end', reason, result, aborted: false, willRetry });
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
