import { type ReadonlySignal, signal } from '@preact/signals';
import type { PageRequest } from '../../../client/view/history.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { loadEarlier, type EarlierPage } from '../actions/history.ts';
import type { LiveSession } from '../state/live-session.ts';

/** How many messages are read at once when all are wanted. */
const LARGE_PAGE = 1000;

/** How the reading of earlier messages stands; `reading` of all of them, with how many there are. */
export type ReadingState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'reading'; readonly known?: number | undefined; readonly total?: number | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

/** Reads what was said before, a page at a time, one after another. */
export class EarlierMessages {
  readonly #session: LiveSession;
  readonly #reading = signal<ReadingState>({ kind: 'idle' });
  #requested: PageRequest | undefined;
  #lastRead: Promise<void> = Promise.resolve();
  /** Of whoever wants everything. */
  #loadingAll = new AbortController();

  constructor(session: LiveSession) {
    this.#session = session;
  }

  get reading(): ReadonlySignal<ReadingState> {
    return this.#reading;
  }

  /** Reads a page more, unless that happens already, has failed or is known to lead nowhere. */
  loadMore(): void {
    const { earlier } = this.#session.view.peek();
    if (this.#reading.peek().kind !== 'idle' || !earlier || earlier === this.#requested) return;
    this.#read({ kind: 'reading' }, async () => {
      let before: PageRequest | undefined = earlier;
      while (before) {
        this.#requested = before;
        const page: EarlierPage | undefined = await loadEarlier(this.#session, { before });
        // What was there already is told first.
        before = page && page.unconfirmed > 0 ? page.earlier : undefined;
      }
    });
  }

  /** Reads on after a failure. */
  retry(): void {
    if (this.#reading.peek().kind !== 'failed') return;
    this.#reading.value = { kind: 'idle' };
    this.#requested = undefined;
    this.loadMore();
  }

  /** Reads everything that was said before, until that is stopped. */
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

  /** Reads no more than the page that is under way. */
  stop(): void {
    this.#loadingAll.abort();
  }

  /** What comes before, when that is something else; nothing for whoever does not want it any more. */
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

const progress = ({ confirmed: certain, totalMessages }: EarlierPage): ReadingState => ({
  kind: 'reading',
  known: certain,
  total: Math.max(certain, totalMessages),
});
