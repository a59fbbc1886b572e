import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { PlainText } from '../../code/plain-text.tsx';
import { useApp } from '../state/app.ts';
import { SessionRow } from './session-row.tsx';

// Interval at which relative times are updated.
const TICK_MS = 30_000;

/** The listed sessions, by group. */
export function SessionGroups() {
  const { list, sessions } = useApp();
  const now = useSignal(Date.now());
  const renamed = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now();
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [now]);
  return (
    <div class={`session-list by-${list.grouping.value}`}>
      <Problem />
      {list.groupsAt(now.value).map(({ name, detail, sessions: members }) => (
        <section key={detail ?? name} aria-label={name}>
          <h2 title={detail}>
            <PlainText text={name} />
          </h2>
          <ul>
            {members.map((session) => (
              <SessionRow key={session.path} session={session} now={now} renamed={renamed} />
            ))}
          </ul>
        </section>
      ))}
      <EmptyList />
      {list.hasMore.value && (
        <button type="button" class="quiet" disabled={sessions.isLoading.value} onClick={() => list.showMore()}>
          Show older sessions
        </button>
      )}
    </div>
  );
}

function Problem() {
  const app = useApp();
  const { sessions } = app;
  if (sessions.problem.value === undefined || app.session.value?.isOffline.value) return null;
  return (
    <div class="session-problem" role="alert">
      <p>The sessions could not be loaded. {sessions.problem.value}.</p>
      <button type="button" onClick={() => app.retry()}>
        Retry
      </button>
    </div>
  );
}

/** States why the list is empty. */
function EmptyList() {
  const { list, sessions } = useApp();
  const loaded = sessions.sessions.value;
  if (loaded === undefined) return sessions.problem.value === undefined ? <p class="note">Loading…</p> : null;
  if (loaded.length === 0) return <p class="note">No sessions yet.</p>;
  if (list.found.value.length > 0 || list.isSearching.value) return null;
  return <p class="note">No session has these words in its name, its first words or its folder.</p>;
}
