import { effect, type ReadonlySignal, signal } from '@preact/signals';
import type { SessionSummary } from '../../../../protocol/generated/vocabulary.ts';
import { readStored, writeStored } from '../../../browser-storage.ts';

const SEEN_KEY = 'tau-seen';

// Only the sessions seen last are kept.
const MAX_SEEN = 500;

// Message counts at the last look, by session id.
type SeenCounts = Readonly<Record<string, number>>;

/** Tracks the sessions in which a run ended since the user last looked, in this browser. */
export class Unread {
  readonly #seen = signal<SeenCounts>(storedCounts());

  /** `current` is the open session while the tab is visible. */
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

  /** Records the open session, and sessions seen running for the first time. */
  #update(sessions: readonly SessionSummary[], current: string | undefined): void {
    const before = this.#seen.peek();
    const changed = sessions.filter(({ id, status, messageCount }) => {
      if (id === current) return before[id] !== messageCount;
      return status === 'running' && before[id] === undefined;
    });
    if (changed.length === 0) return;
    this.#seen.value = withSeen(before, changed);
    writeStored(SEEN_KEY, JSON.stringify(this.#seen.value));
  }
}

/** The latest sessions go last, so that the oldest are dropped first. */
export function withSeen(
  before: SeenCounts,
  changed: readonly Pick<SessionSummary, 'id' | 'messageCount'>[],
): SeenCounts {
  const latest = new Map(changed.map(({ id, messageCount }) => [id, messageCount]));
  const others = Object.entries(before).filter(([id]) => !latest.has(id));
  return Object.fromEntries([...others, ...latest].slice(-MAX_SEEN));
}

/** Storage may hold anything: malformed values are ignored. */
function storedCounts(): SeenCounts {
  try {
    const seen: unknown = JSON.parse(readStored(SEEN_KEY) ?? '{}');
    const entries = typeof seen === 'object' && seen !== null ? Object.entries(seen) : [];
    return Object.fromEntries(entries.filter(([, count]) => typeof count === 'number'));
  } catch {
    return {};
  }
}
