import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../../protocol/errors.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { listSessions, ServerRefusal } from '../../server-api.ts';
import { isVisible } from '../browser-signals.ts';
import { sessionsAfter, mergePage, type PageEnd } from './session-pages.ts';

/** How often it is looked what other sessions do, while somebody looks at the page. */
const LIST_POLL_MS = 5000;

/** How many sessions are asked for at once: of the newest, and of all. */
const PAGE = 200;
const LONG_PAGE = 1000;

/** How long a server that fails is left alone at most. */
const MAX_POLL_DELAY_MS = 60_000;

/** The sessions of the server, the newest first, as far as they were asked for. */
export class LoadedSessions {
  readonly #sessions = signal<readonly SessionSummary[] | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  readonly #hasMore = signal(false);
  readonly #isLoading = signal(false);
  readonly #isLoggedOut = signal(false);
  /** Where those end that are known. */
  #end: PageEnd | undefined;
  /** Where the older page ended that was looked at again last; undefined when the first of them is next. */
  #refreshedUpTo: PageEnd | undefined;
  /** Whether all there are were asked for: whatever the server answers, the next page is asked for then. */
  #loadsAll = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refreshing: Promise<void> | undefined;
  /** Something has happened since it was looked. */
  #isStale = false;

  constructor() {
    void this.refresh();
    effect(() => (isVisible.value ? undefined : () => void this.refresh()));
  }

  /** Undefined before the first answer. */
  get sessions(): ReadonlySignal<readonly SessionSummary[] | undefined> {
    return this.#sessions;
  }

  /** Why they are not known. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  get hasMore(): ReadonlySignal<boolean> {
    return this.#hasMore;
  }

  /** Whether older ones are on their way. */
  get isLoading(): ReadonlySignal<boolean> {
    return this.#isLoading;
  }

  /** Whether the server knows this browser no more. */
  get isLoggedOut(): ReadonlySignal<boolean> {
    return this.#isLoggedOut;
  }

  /** Asks for older ones, too. */
  loadMore(): Promise<void> {
    return this.#load(PAGE);
  }

  /** Asks for all there are, page by page; after a failure as soon as the server answers again. */
  async loadAll(): Promise<void> {
    this.#loadsAll = true;
    await this.#load(LONG_PAGE);
  }

  /** What is known by now is enough. */
  stopLoading(): void {
    this.#loadsAll = false;
  }

  /** Looks now: what was asked before is not waited for in vain. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    this.#refreshing ??= this.#poll();
    await this.#refreshing;
  }

  /** A connection was refused for want of a login. Once there is an answer again, there is another login. */
  loggedOut(): void {
    this.#isLoggedOut.value = true;
  }

  /** It is gone, wherever it was in the list. An answer that is on its way may still tell of it. */
  async remove({ path }: SessionSummary): Promise<void> {
    this.#sessions.value = this.#sessions.value?.filter((session) => session.path !== path);
    await this.refresh();
  }

  async #load(count: number): Promise<void> {
    if (this.#isLoading.value || this.#end === undefined) return;
    this.#isLoading.value = true;
    await this.#attempt(async () => {
      await this.#loadNext(count);
      while (this.#loadsAll && this.#end !== undefined) await this.#loadNext(LONG_PAGE);
    });
    this.#isLoading.value = false;
  }

  async #loadNext(count: number): Promise<void> {
    this.#setEnd(await this.#fetchPage(count, this.#end));
  }

  async #poll(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#isStale) {
      this.#isStale = false;
      await this.#attempt(() => this.#refreshPages());
    }
    if (this.#loadsAll && this.#failures === 0) void this.#load(LONG_PAGE);
    this.#refreshing = undefined;
    const delayMs = Math.min(LIST_POLL_MS * 2 ** this.#failures, MAX_POLL_DELAY_MS);
    if (isVisible.peek()) this.#timer = setTimeout(() => void this.refresh(), delayMs);
  }

  /**
   * What somebody works in is among the newest: they are looked at each time. Of the older ones that are known a page at a
   * time: others may have deleted some of them, or opened one.
   */
  async #refreshPages(): Promise<void> {
    const newest = await this.#fetchPage(PAGE);
    const next = this.#refreshedUpTo ?? newest;
    const isLoaded = sessionsAfter(this.#sessions.value ?? [], next).length > 0;
    this.#refreshedUpTo = isLoaded ? await this.#fetchPage(PAGE, next) : undefined;
  }

  /** Asks for a page, the newest or those behind another, and answers where it ends. */
  async #fetchPage(count: number, after?: PageEnd): Promise<PageEnd | undefined> {
    const { sessions, nextCursor } = await listSessions(count, after?.cursor);
    const last = sessions.at(-1);
    const end = last && nextCursor !== undefined ? { cursor: nextCursor, last } : undefined;
    const loaded = this.#sessions.value ?? [];
    if (sessionsAfter(loaded, end).length === 0) this.#setEnd(end);
    this.#sessions.value = this.#sessions.value ? mergePage(loaded, { after, sessions, end }) : sessions;
    return end;
  }

  #setEnd(end: PageEnd | undefined): void {
    this.#end = end;
    this.#hasMore.value = end !== undefined;
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failures = 0;
      this.#problem.value = undefined;
      this.#isLoggedOut.value = false;
    } catch (error) {
      this.#failures++;
      this.#problem.value = messageOf(error);
      if (error instanceof ServerRefusal && error.status === 401) this.#isLoggedOut.value = true;
    }
  }
}
