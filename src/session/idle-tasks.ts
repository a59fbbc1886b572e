import { Refusal } from '../protocol/errors.ts';
import type { CompactionResult, Params, Result } from '../protocol/generated/vocabulary.ts';
import type { Compactor } from './compaction/compactor.ts';
import type { NavigationParts } from './navigate.ts';

/** Work between runs that an abort stops. */
export type IdleTask = 'compaction' | 'navigation';

interface IdleTaskParts extends NavigationParts {
  readonly compactor: Compactor;
}

/** The compaction or tree navigation that a command requested between runs. */
export class IdleTasks {
  readonly #parts: IdleTaskParts;
  #current: { readonly kind: IdleTask; readonly stop: AbortController; readonly ended: Promise<unknown> } | undefined;

  constructor(parts: IdleTaskParts) {
    this.#parts = parts;
  }

  compact(customInstructions: string | undefined, caller: AbortSignal): Promise<CompactionResult> {
    return this.#start('compaction', caller, (signal) =>
      this.#parts.compactor.compact({ reason: 'manual', customInstructions, signal }),
    );
  }

  /** Rejects with `agent_busy` during a run or another task. */
  async navigate(params: Params<'navigate_tree'>, caller: AbortSignal): Promise<Result<'navigate_tree'>> {
    if (this.#parts.isRunning() || this.#current) throw new Refusal('agent_busy', BUSY_NAVIGATING);
    return this.#start('navigation', caller, async (signal) => {
      const { navigate } = await import('./navigate.ts');
      return navigate(this.#parts, params, signal);
    });
  }

  cancel(kind: IdleTask): void {
    if (this.#current?.kind === kind) this.#current.stop.abort();
  }

  /** Aborts the task; settles when it has stopped. Undefined if none is running. */
  abort(): Promise<unknown> | undefined {
    this.#current?.stop.abort();
    return this.#current?.ended;
  }

  async #start<T>(kind: IdleTask, caller: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const running = work(AbortSignal.any([caller, controller.signal]));
    this.#current = { kind, stop: controller, ended: running.catch(() => {}) };
    try {
      return await running;
    } finally {
      this.#current = undefined;
    }
  }
}

const BUSY_NAVIGATING = 'The agent is busy: wait for it, or stop it, before going to another entry';
