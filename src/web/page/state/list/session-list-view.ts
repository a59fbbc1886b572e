import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { recall, remember } from '../../../remembered.ts';
import { type SessionGroup, type Grouping, groupSessions, filterByWords } from './session-summaries.ts';
import type { LoadedSessions } from './loaded-sessions.ts';

const GROUPING_KEY = 'tau-grouping';

/** How many are drawn at first, and how many more for those who want more. */
const STEP = 200;

/** Which sessions are shown, and in which order: as somebody who looks for one wants it. */
export class SessionListView {
  readonly found: ReadonlySignal<readonly SessionSummary[]>;
  /** Whether there are more than are drawn. */
  readonly hasMore: ReadonlySignal<boolean>;
  /** Whether those that are looked for may be among the ones that were not asked for yet. */
  readonly isSearching: ReadonlySignal<boolean>;
  readonly #sessions: LoadedSessions;
  readonly #filter = signal('');
  readonly #limit = signal(STEP);
  readonly #grouping = signal<Grouping>(recall(GROUPING_KEY) === 'folder' ? 'folder' : 'day');

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

  /** Draws older ones, too. */
  showMore(): void {
    this.#limit.value += STEP;
    if (this.found.value.length < this.#limit.value) void this.#sessions.loadMore();
  }

  /** Looks for words, also in sessions that were not asked for yet. */
  setFilter(text: string): void {
    this.#filter.value = text;
    this.#limit.value = STEP;
    if (text === '') this.#sessions.stopLoading();
    else void this.#sessions.loadAll();
  }

  groupBy(grouping: Grouping): void {
    this.#grouping.value = grouping;
    remember(GROUPING_KEY, grouping);
  }
}
