import { type ReadonlySignal, signal } from '@preact/signals';
import type { PageRequest } from '../../../client/view/history.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { type EarlierPage, loadEarlier } from '../actions/history.ts';
import type { LiveSession } from '../state/live-session.ts';

const LARGE_PAGE = 1000;

/** The state of reading; `known` and `total` count messages while all are loaded. */
export type ReadingState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'reading'; readonly known?: number | undefined; readonly total?: number | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

/** Loads earlier messages page by page, one request at a time. */
export class EarlierMessages {
  readonly #session: LiveSession;
  readonly #reading = signal<ReadingState>({ kind: 'idle' });
  #requested: PageRequest | undefined;
  #lastRead: Promise<void> = Promise.resolve();
  /** Aborted when loading everything is stopped. */
  #loadingAll = new AbortController();

  constructor(session: LiveSession) {
    this.#session = session;
  }

  get reading(): ReadonlySignal<ReadingState> {
    return this.#reading;
  }

  /** Loads one page, unless one is loading, the last one failed, or this cursor was tried. */
  loadMore(): void {
    const { earlier } = this.#session.view.peek();
    if (this.#reading.peek().kind !== 'idle' || !earlier || earlier === this.#requested) return;
    this.#read({ kind: 'reading' }, async () => {
      let before: PageRequest | undefined = earlier;
      while (before) {
        this.#requested = before;
        const page: EarlierPage | undefined = await loadEarlier(this.#session, { before });
        // Messages from before a reset have to be confirmed first.
        before = page && page.unconfirmed > 0 ? page.earlier : undefined;
      }
    });
  }

  /** Continues after a failure. */
  retry(): void {
    if (this.#reading.peek().kind !== 'failed') return;
    this.#reading.value = { kind: 'idle' };
    this.#requested = undefined;
    this.loadMore();
  }

  /** Loads all earlier messages, until `stop()`. */
  async loadAll(): Promise<void> {
    this.stop();
    this.#loadingAll = new AbortController();
    const { signal } = this.#loadingAll;
    await this.#lastRead;
    if (signal.aborted) return;
    this.#read({ kind: 'reading' }, async () => {
      let before = this.#session.view.peek().earlier;
      while (before && !signal.aborted) {
        this.#requested = before;
        const page: EarlierPage | undefined = await loadEarlier(this.#session, { before, limit: LARGE_PAGE });
        if (page) this.#reading.value = progress(page);
        before = page ? page.earlier : await this.#nextAfter(before, signal);
      }
    });
    await this.#lastRead;
  }

  /** Stops after the page in flight. */
  stop(): void {
    this.#loadingAll.abort();
  }

  /** Returns the cursor of the view once it differs from `before`; undefined when aborted. */
  async #nextAfter(before: PageRequest, signal: AbortSignal): Promise<PageRequest | undefined> {
    if (signal.aborted) return undefined;
    let unsubscribe = () => {};
    const other = await new Promise<PageRequest | undefined>((resolve) => {
      unsubscribe = this.#session.view.subscribe(({ earlier }) => {
        if (earlier !== before) resolve(earlier);
      });
      signal.addEventListener('abort', () => resolve(undefined));
    });
    unsubscribe();
    return other;
  }

  #read(reading: ReadingState, work: () => Promise<void>): void {
    this.#reading.value = reading;
    this.#lastRead = work().then(
      () => {
        this.#reading.value = { kind: 'idle' };
      },
      (error: unknown) => {
        this.#reading.value = { kind: 'failed', reason: messageOf(error) };
      },
    );
  }
}

const progress = ({ confirmed, totalMessages }: EarlierPage): ReadingState => ({
  kind: 'reading',
  known: confirmed,
  total: Math.max(confirmed, totalMessages),
});
