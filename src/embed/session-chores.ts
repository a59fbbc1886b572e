import type { NavigateOptions } from '../extend/extensions/extension-api.ts';
import type { CompactionResult, Result } from '../protocol/generated/vocabulary.ts';
import type { IdleTask } from '../session/session.ts';
import type { SessionDesk } from './session-desk.ts';

/** What is done between runs, and can be called off from the moment that it is asked for. */
export class SessionChores {
  readonly #desk: SessionDesk;
  readonly #stops = { compaction: new AbortController(), navigation: new AbortController() };

  constructor(desk: SessionDesk) {
    this.#desk = desk;
  }

  compact(customInstructions: string | undefined): Promise<CompactionResult> {
    const stop = this.#stops.compaction.signal;
    const params = customInstructions === undefined ? {} : { customInstructions };
    return this.#desk.perform('compact', params, (wish, { agent, signal }) =>
      agent.session.compact(wish.customInstructions, AbortSignal.any([signal, stop])),
    );
  }

  navigate(targetId: string, options: NavigateOptions): Promise<Result<'navigate_tree'>> {
    const stop = this.#stops.navigation.signal;
    return this.#desk.perform(
      'navigate_tree',
      { ...options, targetId },
      ({ targetId: id, ...wish }, { agent, signal }) =>
        agent.session.navigate(id, wish, AbortSignal.any([signal, stop])),
    );
  }

  /** Stops it, whoever asked for it, also while it waits for its turn. */
  callOff(kind: IdleTask): void {
    this.#stops[kind].abort();
    this.#stops[kind] = new AbortController();
    this.#desk.agent.session.cancel(kind);
  }
}
