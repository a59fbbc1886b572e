import { effect, type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../../protocol/errors.ts';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { listSessions, ServerRefusal } from '../../server-api.ts';
import { isVisible } from '../browser-signals.ts';
import { mergePage, type PageEnd, sessionsAfter } from './session-pages.ts';

// Poll interval while the page is visible.
const LIST_POLL_MS = 5000;

// Poll interval of a hidden page, whose title shows the sessions that wait for an answer.
const HIDDEN_POLL_MS = 30_000;

// Page sizes of the newest sessions and of a full load.
const PAGE = 200;
const LONG_PAGE = 1000;

// Upper limit of the delay after failures.
const MAX_POLL_DELAY_MS = 60_000;

/** The sessions of the server, newest first, as far as they were loaded. */
export class LoadedSessions {
  readonly #sessions = signal<readonly SessionSummary[] | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  readonly #hasMore = signal(false);
  readonly #isLoading = signal(false);
  readonly #isLoggedOut = signal(false);
  /** The end of the loaded sessions. */
  #end: PageEnd | undefined;
  /** The end of the older page that was refreshed last; undefined starts over with the first. */
  #refreshedUpTo: PageEnd | undefined;
  /** Whether all pages are loaded as soon as the server responds. */
  #loadsAll = false;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refreshing: Promise<void> | undefined;
  /** Whether another refresh was requested since the last one started. */
  #isStale = false;

  constructor() {
    void this.refresh();
    effect(() => (isVisible.value ? undefined : () => void this.refresh()));
  }

  /** Undefined before the first response. */
  get sessions(): ReadonlySignal<readonly SessionSummary[] | undefined> {
    return this.#sessions;
  }

  /** The last error. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  get hasMore(): ReadonlySignal<boolean> {
    return this.#hasMore;
  }

  /** Whether older sessions are being loaded. */
  get isLoading(): ReadonlySignal<boolean> {
    return this.#isLoading;
  }

  /** Whether the server rejects the login of this browser. */
  get isLoggedOut(): ReadonlySignal<boolean> {
    return this.#isLoggedOut;
  }

  /** Loads one older page. */
  loadMore(): Promise<void> {
    return this.#load(PAGE);
  }

  /** Loads all pages; after a failure it resumes when the server responds again. */
  async loadAll(): Promise<void> {
    this.#loadsAll = true;
    await this.#load(LONG_PAGE);
  }

  /** Stops loading further pages. */
  stopLoading(): void {
    this.#loadsAll = false;
  }

  /** Refreshes now; a refresh in flight is followed by another one. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    this.#refreshing ??= this.#poll();
    await this.#refreshing;
  }

  /** Marks the login as rejected. The next successful response clears it. */
  loggedOut(): void {
    this.#isLoggedOut.value = true;
  }

  /** Removes a deleted session; a response in flight may still list it. */
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
    const delayMs = (isVisible.peek() ? LIST_POLL_MS : HIDDEN_POLL_MS) * 2 ** this.#failures;
    this.#timer = setTimeout(() => void this.refresh(), Math.min(delayMs, MAX_POLL_DELAY_MS));
  }

  /**
   * Reads the newest page, and one of the older loaded pages per call: other clients may delete or continue sessions
   * there.
   */
  async #refreshPages(): Promise<void> {
    const newest = await this.#fetchPage(PAGE);
    const next = this.#refreshedUpTo ?? newest;
    const isLoaded = sessionsAfter(this.#sessions.value ?? [], next).length > 0;
    this.#refreshedUpTo = isLoaded ? await this.#fetchPage(PAGE, next) : undefined;
  }

  /** Requests one page, merges it and returns its end. */
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
