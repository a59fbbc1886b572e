import type { NavigateOptions } from '../extend/extensions/extension-api.ts';
import type { CompactionResult, Result } from '../protocol/generated/vocabulary.ts';
import type { IdleTask } from '../session/idle-tasks.ts';
import type { EmbedContext } from './context.ts';

/** Compaction and tree navigation, which can be cancelled even before they start. */
export class CancellableTasks {
  readonly #context: EmbedContext;
  readonly #controllers = { compaction: new AbortController(), navigation: new AbortController() };

  constructor(context: EmbedContext) {
    this.#context = context;
  }

  compact(customInstructions: string | undefined): Promise<CompactionResult> {
    const cancelled = this.#controllers.compaction.signal;
    const params = customInstructions === undefined ? {} : { customInstructions };
    return this.#context.perform('compact', params, {
      handler: (given, { agent, signal }) =>
        agent.session.compact(given.customInstructions, AbortSignal.any([signal, cancelled])),
    });
  }

  navigate(targetId: string, options: NavigateOptions): Promise<Result<'navigate_tree'>> {
    const cancelled = this.#controllers.navigation.signal;
    return this.#context.perform(
      'navigate_tree',
      { ...options, targetId },
      {
        handler: ({ targetId: id, ...given }, { agent, signal }) =>
          agent.session.navigate(id, given, AbortSignal.any([signal, cancelled])),
      },
    );
  }

  /** Cancels running and waiting tasks of this kind, including those of other clients. */
  cancel(kind: IdleTask): void {
    this.#controllers[kind].abort();
    this.#controllers[kind] = new AbortController();
    this.#context.agent.session.cancel(kind);
  }
}
