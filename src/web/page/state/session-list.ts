import { type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../protocol/errors.ts';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { listSessions } from '../entrance/server.ts';

/** How often it is looked what other sessions do, while somebody looks at the page. */
const LOOK_MS = 5000;

/** The sessions of the server, the newest first, as far as they were asked for. */
export class SessionList {
  readonly #sessions = signal<readonly SessionSummary[] | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  readonly #hasMore = signal(false);
  #pages = 1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking: Promise<void> | undefined;

  constructor() {
    document.addEventListener('visibilitychange', () => void this.refresh());
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

  /** Asks for older ones, too. */
  async more(): Promise<void> {
    this.#pages++;
    await this.refresh();
  }

  /** Looks now. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#looking ??= this.#look();
    await this.#looking;
    this.#looking = undefined;
    clearTimeout(this.#timer);
    if (document.visibilityState === 'visible') this.#timer = setTimeout(() => void this.refresh(), LOOK_MS);
  }

  async #look(): Promise<void> {
    try {
      const found: SessionSummary[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < this.#pages && (page === 0 || cursor !== undefined); page++) {
        const { sessions, nextCursor } = await listSessions(cursor);
        found.push(...sessions);
        cursor = nextCursor;
      }
      this.#sessions.value = found;
      this.#hasMore.value = cursor !== undefined;
      this.#problem.value = undefined;
    } catch (error) {
      this.#problem.value = messageOf(error);
    }
  }
}
