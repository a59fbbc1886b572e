import { type ReadonlySignal, signal } from '@preact/signals';
import type { PageRequest } from '../../../client/view/history.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { loadEarlier, type ReadPage } from '../actions/history.ts';
import type { LiveSession } from '../state/live-session.ts';

/** How many messages are read at once when all are wanted. */
const LARGE_PAGE = 1000;

/** How the reading of earlier messages stands; `reading` of all of them, with how many there are. */
export type Reading =
  | { readonly kind: 'idle' }
  | { readonly kind: 'reading'; readonly known?: number | undefined; readonly total?: number | undefined }
  | { readonly kind: 'failed'; readonly reason: string };

/** Reads what was said before, a page at a time, one after another. */
export class EarlierMessages {
  readonly #session: LiveSession;
  readonly #reading = signal<Reading>({ kind: 'idle' });
  #asked: PageRequest | undefined;
  #work: Promise<void> = Promise.resolve();
  /** Of whoever wants everything. */
  #wish = new AbortController();

  constructor(session: LiveSession) {
    this.#session = session;
  }

  get reading(): ReadonlySignal<Reading> {
    return this.#reading;
  }

  /** Reads a page more, unless that happens already, has failed or is known to lead nowhere. */
  more(): void {
    const { earlier } = this.#session.view.peek();
    if (this.#reading.peek().kind !== 'idle' || !earlier || earlier === this.#asked) return;
    this.#read({ kind: 'reading' }, async () => {
      let asked: PageRequest | undefined = earlier;
      while (asked) {
        this.#asked = asked;
        const page: ReadPage | undefined = await loadEarlier(this.#session, { asked });
        // What was there already is told first.
        asked = page && page.unconfirmed > 0 ? page.rest : undefined;
      }
    });
  }

  /** Reads on after a failure. */
  retry(): void {
    if (this.#reading.peek().kind !== 'failed') return;
    this.#reading.value = { kind: 'idle' };
    this.#asked = undefined;
    this.more();
  }

  /** Reads everything that was said before, until that is stopped. */
  async all(): Promise<void> {
    this.stop();
    this.#wish = new AbortController();
    const { signal } = this.#wish;
    await this.#work;
    if (signal.aborted) return;
    this.#read({ kind: 'reading' }, async () => {
      let asked = this.#session.view.peek().earlier;
      while (asked && !signal.aborted) {
        this.#asked = asked;
        const page: ReadPage | undefined = await loadEarlier(this.#session, { asked, limit: LARGE_PAGE });
        if (page) this.#reading.value = progress(page);
        asked = page ? page.rest : await this.#otherThan(asked, signal);
      }
    });
    await this.#work;
  }

  /** Reads no more than the page that is under way. */
  stop(): void {
    this.#wish.abort();
  }

  /** What comes before, when that is something else; nothing for whoever does not want it any more. */
  async #otherThan(asked: PageRequest, signal: AbortSignal): Promise<PageRequest | undefined> {
    if (signal.aborted) return undefined;
    let leave = () => {};
    const other = await new Promise<PageRequest | undefined>((tell) => {
      leave = this.#session.view.subscribe(({ earlier }) => {
        if (earlier !== asked) tell(earlier);
      });
      signal.addEventListener('abort', () => tell(undefined));
    });
    leave();
    return other;
  }

  #read(reading: Reading, work: () => Promise<void>): void {
    this.#reading.value = reading;
    this.#work = work().then(
      () => {
        this.#reading.value = { kind: 'idle' };
      },
      (error: unknown) => {
        this.#reading.value = { kind: 'failed', reason: messageOf(error) };
      },
    );
  }
}

const progress = ({ certain, totalMessages }: ReadPage): Reading => ({
  kind: 'reading',
  known: certain,
  total: Math.max(certain, totalMessages),
});
