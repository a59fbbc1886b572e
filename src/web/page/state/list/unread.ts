import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { recall, remember } from '../../../remembered.ts';

const SEEN_KEY = 'tau-seen';

/** More sessions than this are not kept in mind, the last ones. */
const MAX_SEEN = 500;

/** By the ids of sessions, how many messages were there when somebody looked last. */
type SeenCounts = Readonly<Record<string, number>>;

/** In which sessions a run has ended since somebody looked, with this browser. */
export class Unread {
  readonly #seen = signal<SeenCounts>(storedCounts());

  /** `current`: the session that is looked at, while somebody does. */
  constructor(
    sessions: ReadonlySignal<readonly SessionSummary[] | undefined>,
    current: ReadonlySignal<string | undefined>,
  ) {
    addEventListener('storage', ({ key }) => {
      if (key === SEEN_KEY) this.#seen.value = storedCounts();
    });
    effect(() => this.#update(sessions.value ?? [], current.value));
  }

  has({ id, messageCount, status }: SessionSummary): boolean {
    const seen = this.#seen.value[id];
    return seen !== undefined && messageCount > seen && status !== 'running' && status !== 'waiting';
  }

  /** Whatever is looked at, or is seen at work, is kept in mind. */
  #update(sessions: readonly SessionSummary[], current: string | undefined): void {
    const before = this.#seen.peek();
    const changed = sessions.filter(({ id, status, messageCount }) => {
      if (id === current) return before[id] !== messageCount;
      return status === 'running' && before[id] === undefined;
    });
    if (changed.length === 0) return;
    this.#seen.value = withSeen(before, changed);
    remember(SEEN_KEY, JSON.stringify(this.#seen.value));
  }
}

/** What was seen now stands last: what was not seen for the longest time is forgotten first. */
export function withSeen(before: SeenCounts, changed: readonly Pick<SessionSummary, 'id' | 'messageCount'>[]): SeenCounts {
  const latest = new Map(changed.map(({ id, messageCount }) => [id, messageCount]));
  const others = Object.entries(before).filter(([id]) => !latest.has(id));
  return Object.fromEntries([...others, ...latest].slice(-MAX_SEEN));
}

/** Nobody but this page writes it, but anybody could. */
function storedCounts(): SeenCounts {
  try {
    const seen: unknown = JSON.parse(recall(SEEN_KEY) ?? '{}');
    const entries = typeof seen === 'object' && seen !== null ? Object.entries(seen) : [];
    return Object.fromEntries(entries.filter(([, count]) => typeof count === 'number'));
  } catch {
    return {};
  }
}
