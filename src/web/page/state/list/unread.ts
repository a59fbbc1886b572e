import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { recall, remember } from '../../../remembered.ts';

const KEY = 'tau-seen';

/** More sessions than this are not kept in mind, the last ones. */
const MAX_SEEN = 500;

/** By the ids of sessions, how many messages were there when somebody looked last. */
type Seen = Readonly<Record<string, number>>;

/** In which sessions a run has ended since somebody looked, with this browser. */
export class Unread {
  readonly #seen = signal<Seen>(stored());

  /** `current`: the session that is looked at, while somebody does. */
  constructor(
    sessions: ReadonlySignal<readonly SessionSummary[] | undefined>,
    current: ReadonlySignal<string | undefined>,
  ) {
    addEventListener('storage', ({ key }) => {
      if (key === KEY) this.#seen.value = stored();
    });
    effect(() => this.#look(sessions.value ?? [], current.value));
  }

  has({ id, messageCount, status }: SessionSummary): boolean {
    const seen = this.#seen.value[id];
    return seen !== undefined && messageCount > seen && status !== 'running' && status !== 'waiting';
  }

  /** Whatever is looked at, or is seen at work, is kept in mind. */
  #look(sessions: readonly SessionSummary[], current: string | undefined): void {
    const before = this.#seen.peek();
    const news = sessions.filter(({ id, status, messageCount }) => {
      if (id === current) return before[id] !== messageCount;
      return status === 'running' && before[id] === undefined;
    });
    if (news.length === 0) return;
    this.#seen.value = seenWith(before, news);
    remember(KEY, JSON.stringify(this.#seen.value));
  }
}

/** What was seen now stands last: what was not seen for the longest time is forgotten first. */
export function seenWith(before: Seen, news: readonly Pick<SessionSummary, 'id' | 'messageCount'>[]): Seen {
  const now = new Map(news.map(({ id, messageCount }) => [id, messageCount]));
  const others = Object.entries(before).filter(([id]) => !now.has(id));
  return Object.fromEntries([...others, ...now].slice(-MAX_SEEN));
}

/** Nobody but this page writes it, but anybody could. */
function stored(): Seen {
  try {
    const seen: unknown = JSON.parse(recall(KEY) ?? '{}');
    const known = typeof seen === 'object' && seen !== null ? Object.entries(seen) : [];
    return Object.fromEntries(known.filter(([, count]) => typeof count === 'number'));
  } catch {
    return {};
  }
}
