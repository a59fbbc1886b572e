import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { LiveSession } from '../live-session.ts';

/** Whether somebody looks at a session, in this tab or in another one of this browser. */
export class Watch {
  readonly #sessionId: ReadonlySignal<string | undefined>;
  readonly #isLooking = signal(isVisible());

  constructor(session: ReadonlySignal<LiveSession | undefined>) {
    this.#sessionId = computed(() => session.value?.id.value);
    document.addEventListener('visibilitychange', () => {
      this.#isLooking.value = isVisible();
    });
    effect(() => {
      const sessionId = this.#sessionId.value;
      if (this.#isLooking.value && sessionId !== undefined) return tellOtherTabs(sessionId);
      return undefined;
    });
  }

  /** Whether this tab is looked at. */
  get isLooking(): ReadonlySignal<boolean> {
    return this.#isLooking;
  }

  /** Whether any tab with this session is. */
  async isWatched(): Promise<boolean> {
    if (isVisible()) return true;
    const { held = [] } = (await navigator.locks?.query()) ?? {};
    return held.some(({ name }) => name === lockOf(this.#sessionId.value ?? ''));
  }
}

const isVisible = () => document.visibilityState === 'visible';

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
