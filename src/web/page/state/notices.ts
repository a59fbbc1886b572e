import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { MAX_NOTICES, type UiNotice } from '../../../client/view/extension-ui.ts';
import type { LiveSession } from './live-session.ts';

/** More are not shown at a time. */
export const MAX_TOASTS = 4;

/**
 * The notices of a session, and those of the page while it is looked at, that nobody has dismissed here. The same words may
 * come twice: each is a notice of its own.
 */
export class Notices {
  readonly #notices: ReadonlySignal<readonly UiNotice[]>;
  /** What the page itself has to say: no snapshot tells it again. */
  readonly #pageNotices = signal<readonly UiNotice[]>([]);
  /** Why there is no connection: that is told where the connection is. */
  readonly #closeReason: ReadonlySignal<string | undefined>;
  readonly #dismissed = signal<ReadonlySet<UiNotice>>(new Set());
  readonly #keys = new WeakMap<UiNotice, number>();
  #lastKey = 0;
  /** The last ones, the newest at the end, and how many there are before them. */
  readonly open = computed(() => {
    const open = this.#notices.value.filter(
      (notice) => !this.#dismissed.value.has(notice) && notice.text !== this.#closeReason.value,
    );
    return { shown: open.slice(-MAX_TOASTS), more: Math.max(0, open.length - MAX_TOASTS) };
  });

  constructor({ view, connection }: Pick<LiveSession, 'view' | 'connection'>) {
    const sessionNotices = computed(() => view.value.notices);
    this.#notices = computed(() => [...sessionNotices.value, ...this.#pageNotices.value]);
    this.#closeReason = computed(() => connection.value.reason);
  }

  add(notice: UiNotice): void {
    this.#pageNotices.value = [...this.#pageNotices.value, notice].slice(-MAX_NOTICES);
  }

  /** What tells a notice from all others. */
  keyOf(notice: UiNotice): number {
    const key = this.#keys.get(notice) ?? ++this.#lastKey;
    this.#keys.set(notice, key);
    return key;
  }

  dismiss(notice: UiNotice): void {
    this.#dismiss([notice]);
  }

  dismissAll(): void {
    this.#dismiss(this.#notices.value);
  }

  /** Those that the session no longer has need not be remembered. */
  #dismiss(notices: readonly UiNotice[]): void {
    const current = new Set(this.#notices.value);
    this.#dismissed.value = new Set([...this.#dismissed.value, ...notices].filter((notice) => current.has(notice)));
  }
}
