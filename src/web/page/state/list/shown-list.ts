import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { recall, remember } from '../../../remembered.ts';
import { type Group, type Grouping, grouped, withWords } from './groups.ts';
import type { SessionList } from './session-list.ts';

const KEY = 'tau-grouping';

/** How many are drawn at first, and how many more for those who want more. */
const STRETCH = 200;

/** Which sessions are shown, and in which order: as somebody who looks for one wants it. */
export class ShownList {
  readonly found: ReadonlySignal<readonly SessionSummary[]>;
  /** Whether there are more than are drawn. */
  readonly hasMore: ReadonlySignal<boolean>;
  /** Whether those that are looked for may be among the ones that were not asked for yet. */
  readonly isSearching: ReadonlySignal<boolean>;
  readonly #sessions: SessionList;
  readonly #filter = signal('');
  readonly #most = signal(STRETCH);
  readonly #grouping = signal<Grouping>(recall(KEY) === 'folder' ? 'folder' : 'day');

  constructor(sessions: SessionList) {
    this.#sessions = sessions;
    this.found = computed(() => withWords(sessions.sessions.value ?? [], this.#filter.value));
    this.hasMore = computed(() => this.found.value.length > this.#most.value || sessions.hasMore.value);
    this.isSearching = computed(() => this.#filter.value !== '' && sessions.hasMore.value);
  }

  get filter(): ReadonlySignal<string> {
    return this.#filter;
  }

  get grouping(): ReadonlySignal<Grouping> {
    return this.#grouping;
  }

  groupsAt(now: number): readonly Group[] {
    return grouped(this.found.value.slice(0, this.#most.value), this.#grouping.value, now);
  }

  /** Draws older ones, too. */
  more(): void {
    this.#most.value += STRETCH;
    if (this.found.value.length < this.#most.value) void this.#sessions.more();
  }

  /** Looks for words, also in sessions that were not asked for yet. */
  find(words: string): void {
    this.#filter.value = words;
    this.#most.value = STRETCH;
    if (words === '') this.#sessions.enough();
    else void this.#sessions.all();
  }

  groupBy(grouping: Grouping): void {
    this.#grouping.value = grouping;
    remember(KEY, grouping);
  }
}
