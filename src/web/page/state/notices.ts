import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { MAX_NOTICES, type ScreenNotice } from '../../../client/view/extension-ui.ts';
import type { LiveSession } from './live-session.ts';

/** At most this many are shown at a time. */
export const MAX_TOASTS = 4;

/** A button of a notice. */
export interface NoticeAction {
  readonly label: string;
  readonly onSelect: () => void;
}

/** Notices of the page may have a button. */
export interface Notice extends ScreenNotice {
  readonly action?: NoticeAction | undefined;
}

/** The notices of a session and of the page that were not dismissed here. Notices with equal text are distinct. */
export class Notices {
  readonly #notices: ReadonlySignal<readonly Notice[]>;
  /** Notices of the page itself, which no snapshot contains. */
  readonly #pageNotices = signal<readonly Notice[]>([]);
  /** The close reason, which the connection line shows. */
  readonly #closeReason: ReadonlySignal<string | undefined>;
  readonly #dismissed = signal<ReadonlySet<Notice>>(new Set());
  readonly #keys = new WeakMap<Notice, number>();
  #lastKey = 0;
  /** The newest notices, newest last, and the number before them. */
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

  add(notice: Notice): void {
    this.#pageNotices.value = [...this.#pageNotices.value, notice].slice(-MAX_NOTICES);
  }

  /** Returns the unique key of a notice. */
  keyOf(notice: Notice): number {
    const key = this.#keys.get(notice) ?? ++this.#lastKey;
    this.#keys.set(notice, key);
    return key;
  }

  dismiss(notice: Notice): void {
    this.#dismiss([notice]);
  }

  dismissAll(): void {
    this.#dismiss(this.#notices.value);
  }

  /** Forgets dismissed notices that the session no longer has. */
  #dismiss(notices: readonly Notice[]): void {
    const current = new Set(this.#notices.value);
    this.#dismissed.value = new Set([...this.#dismissed.value, ...notices].filter((notice) => current.has(notice)));
  }
}
