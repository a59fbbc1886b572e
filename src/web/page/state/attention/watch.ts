import { computed, effect, type ReadonlySignal } from '@preact/signals';
import type { LiveSession } from '../live-session.ts';
import { isVisible } from '../visibility.ts';

/** Whether somebody looks at a session, in this tab or in another one of this browser. */
export class Watch {
  readonly #sessionId: ReadonlySignal<string | undefined>;

  constructor(session: ReadonlySignal<LiveSession | undefined>) {
    this.#sessionId = computed(() => session.value?.id.value);
    effect(() => {
      const sessionId = this.#sessionId.value;
      if (isVisible.value && sessionId !== undefined) return tellOtherTabs(sessionId);
      return undefined;
    });
  }

  async isWatched(): Promise<boolean> {
    if (isVisible.peek()) return true;
    const { held = [] } = (await navigator.locks?.query()) ?? {};
    return held.some(({ name }) => name === lockOf(this.#sessionId.value ?? ''));
  }
}

const lockOf = (sessionId: string) => `tau watches ${sessionId}`;

/** A lock that many may hold is known to all tabs, and goes with its holder. Pages that came unencrypted have none. */
function tellOtherTabs(sessionId: string): () => void {
  const controller = new AbortController();
  const { signal: over } = controller;
  const untilOver = () =>
    new Promise<void>((resolve) => {
      over.addEventListener('abort', () => resolve());
      // It may be over before the lock is given.
      if (over.aborted) resolve();
    });
  navigator.locks?.request(lockOf(sessionId), { mode: 'shared' }, untilOver).catch(() => {});
  return () => controller.abort();
}
