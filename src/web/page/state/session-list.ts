import { type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../protocol/errors.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { listSessions, ServerRefusal } from '../entrance/server.ts';

/** How often it is looked what other sessions do, while somebody looks at the page. */
const LOOK_MS = 5000;

/** How many sessions are asked for at once: of the newest, and of all. */
const PAGE = 200;
const LONG_PAGE = 1000;

/** How long a server that fails is left alone at most. */
const MAX_REST_MS = 60_000;

/** The sessions of the server, the newest first, as far as they were asked for. */
export class SessionList {
  readonly #sessions = signal<readonly SessionSummary[] | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  readonly #hasMore = signal(false);
  readonly #isLoading = signal(false);
  readonly #isLoggedOut = signal(false);
  /** Where the last page that was asked for ended. */
  #end: string | undefined;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> | undefined;
  /** Something has happened since it was looked. */
  #isStale = false;

  constructor() {
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && void this.refresh());
    void this.refresh();
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
  more(): Promise<void> {
    return this.#load(() => this.#next(PAGE));
  }

  /** Asks for all there are. */
  all(): Promise<void> {
    return this.#load(async () => {
      while (this.#end !== undefined) await this.#next(LONG_PAGE);
    });
  }

  /** Looks now: what was asked before is not waited for in vain. */
  async refresh(): Promise<void> {
    this.#isStale = true;
    this.#looking ??= this.#look();
    await this.#looking;
  }

  /** It is gone, wherever it was in the list. An answer that is on its way may still tell of it. */
  async forget({ path }: SessionSummary): Promise<void> {
    this.#know((this.#sessions.value ?? []).filter((session) => session.path !== path));
    await this.refresh();
  }

  async #load(work: () => Promise<void>): Promise<void> {
    if (this.#isLoading.value || this.#end === undefined) return;
    this.#isLoading.value = true;
    await this.#attempt(work);
    this.#isLoading.value = false;
  }

  async #next(count: number): Promise<void> {
    const { sessions, nextCursor } = await listSessions(count, this.#end);
    this.#know([...(this.#sessions.value ?? []), ...sessions]);
    this.#endAt(nextCursor);
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    while (this.#isStale) {
      this.#isStale = false;
      await this.#attempt(() => this.#renew());
    }
    this.#looking = undefined;
    const restMs = Math.min(LOOK_MS * 2 ** this.#failures, MAX_REST_MS);
    if (document.visibilityState === 'visible') this.#timer = setTimeout(() => void this.refresh(), restMs);
  }

  /** Whatever has changed is among the newest: the first page tells. */
  async #renew(): Promise<void> {
    const { sessions, nextCursor } = await listSessions(PAGE);
    const known = this.#sessions.value ?? [];
    const last = sessions.at(-1)?.lastModified ?? '';
    const older = nextCursor === undefined ? [] : known.filter(({ lastModified }) => lastModified <= last);
    this.#know([...sessions, ...older]);
    if (older.length === 0) this.#endAt(nextCursor);
  }

  #know(sessions: readonly SessionSummary[]): void {
    const unique = [...new Map(sessions.map((session) => [session.path, session])).values()];
    // What is as it was is not drawn again.
    if (JSON.stringify(unique) !== JSON.stringify(this.#sessions.value)) this.#sessions.value = unique;
  }

  #endAt(cursor: string | undefined): void {
    this.#end = cursor;
    this.#hasMore.value = cursor !== undefined;
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failures = 0;
      this.#problem.value = undefined;
    } catch (error) {
      this.#failures++;
      this.#problem.value = messageOf(error);
      this.#isLoggedOut.value = error instanceof ServerRefusal && error.status === 401;
    }
  }
}
