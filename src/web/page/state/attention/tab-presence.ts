import { computed, effect, type ReadonlySignal } from '@preact/signals';
import { isVisible } from '../browser-signals.ts';
import type { LiveSession } from '../live-session.ts';

/** Reports whether a session is visible in this tab or another tab of this browser. */
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

/** All tabs can query a shared lock, and it ends with its holder. Pages without TLS have no locks. */
function holdViewLock(sessionId: string): () => void {
  const controller = new AbortController();
  const { signal: released } = controller;
  const untilReleased = () =>
    new Promise<void>((resolve) => {
      released.addEventListener('abort', () => resolve());
      // The signal may abort before the lock is granted.
      if (released.aborted) resolve();
    });
  navigator.locks?.request(lockName(sessionId), { mode: 'shared' }, untilReleased).catch(() => {});
  return () => controller.abort();
}
