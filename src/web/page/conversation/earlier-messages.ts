import { type ReadonlySignal, signal } from '@preact/signals';
import type { Earlier } from '../../../client/earlier.ts';
import { messageOf } from '../../../protocol/errors.ts';
import { loadEarlier } from '../actions/history.ts';
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
  #asked: Earlier | undefined;
  #work: Promise<void> = Promise.resolve();
  #isStopped = false;

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
    this.#asked = earlier;
    this.#read({ kind: 'reading' }, async () => {
      await loadEarlier(this.#session, { asked: earlier });
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
    await this.#work;
    this.#isStopped = false;
    this.#read({ kind: 'reading' }, async () => {
      let asked = this.#session.view.peek().earlier;
      while (asked && !this.#isStopped) {
        this.#asked = asked;
        const page = await loadEarlier(this.#session, { asked, limit: LARGE_PAGE });
        asked = page?.rest;
        const known = this.#session.view.peek().messages.length;
        this.#reading.value = { kind: 'reading', known, total: Math.max(known, page?.totalMessages ?? 0) };
      }
    });
    await this.#work;
  }

  /** Reads no more than the page that is under way. */
  stop(): void {
    this.#isStopped = true;
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
