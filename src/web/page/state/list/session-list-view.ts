import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { readStored, writeStored } from '../../../browser-storage.ts';
import type { LoadedSessions } from './loaded-sessions.ts';
import { filterByWords, type Grouping, groupSessions, type SessionGroup } from './session-summaries.ts';

const GROUPING_KEY = 'tau-grouping';

// Sessions drawn at first, and added per click.
const STEP = 200;

/** The filtered and grouped sessions of the list, up to a limit. */
export class SessionListView {
  readonly found: ReadonlySignal<readonly SessionSummary[]>;
  /** Whether more sessions match than are drawn. */
  readonly hasMore: ReadonlySignal<boolean>;
  /** Whether sessions that are not loaded yet may match. */
  readonly isSearching: ReadonlySignal<boolean>;
  readonly #sessions: LoadedSessions;
  readonly #filter = signal('');
  readonly #limit = signal(STEP);
  readonly #grouping = signal<Grouping>(readStored(GROUPING_KEY) === 'folder' ? 'folder' : 'day');

  constructor(sessions: LoadedSessions) {
    this.#sessions = sessions;
    this.found = computed(() => filterByWords(sessions.sessions.value ?? [], this.#filter.value));
    this.hasMore = computed(() => this.found.value.length > this.#limit.value || sessions.hasMore.value);
    this.isSearching = computed(() => this.#filter.value !== '' && sessions.hasMore.value);
  }

  get filter(): ReadonlySignal<string> {
    return this.#filter;
  }

  get grouping(): ReadonlySignal<Grouping> {
    return this.#grouping;
  }

  groupsAt(now: number): readonly SessionGroup[] {
    return groupSessions(this.found.value.slice(0, this.#limit.value), this.#grouping.value, now);
  }

  /** Raises the limit and loads older sessions when needed. */
  showMore(): void {
    this.#limit.value += STEP;
    if (this.found.value.length < this.#limit.value) void this.#sessions.loadMore();
  }

  /** Filters by words; loads all sessions while a filter is set. */
  setFilter(text: string): void {
    this.#filter.value = text;
    this.#limit.value = STEP;
    if (text === '') this.#sessions.stopLoading();
    else void this.#sessions.loadAll();
  }

  groupBy(grouping: Grouping): void {
    this.#grouping.value = grouping;
    writeStored(GROUPING_KEY, grouping);
  }
}
