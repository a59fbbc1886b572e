import { computed, effect, type ReadonlySignal } from '@preact/signals';
import type { LiveSession } from '../live-session.ts';
import { isVisible } from '../browser-signals.ts';

/** Whether somebody looks at a session, in this tab or in another one of this browser. */
export class TabPresence {
  readonly #sessionId: ReadonlySignal<string | undefined>;

  constructor(session: ReadonlySignal<LiveSession | undefined>) {
    this.#sessionId = computed(() => session.value?.id.value);
    effect(() => {
      const sessionId = this.#sessionId.value;
      if (isVisible.value && sessionId !== undefined) return holdViewLock(sessionId);
      return undefined;
    });
  }

  async isViewed(): Promise<boolean> {
    if (isVisible.peek()) return true;
    const { held = [] } = (await navigator.locks?.query()) ?? {};
    return held.some(({ name }) => name === lockName(this.#sessionId.value ?? ''));
  }
}

const lockName = (sessionId: string) => `tau watches ${sessionId}`;

/** A lock that many may hold is known to all tabs, and goes with its holder. Pages that came unencrypted have none. */
function holdViewLock(sessionId: string): () => void {
  const controller = new AbortController();
  const { signal: released } = controller;
  const untilReleased = () =>
    new Promise<void>((resolve) => {
      released.addEventListener('abort', () => resolve());
      // It may be over before the lock is given.
      if (released.aborted) resolve();
    });
  navigator.locks?.request(lockName(sessionId), { mode: 'shared' }, untilReleased).catch(() => {});
  return () => controller.abort();
}
