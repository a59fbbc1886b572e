import { useComputed } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { dateAndTime } from '../../words.ts';
import { SessionLink } from '../sessions/session-link.tsx';
import { useApp, useSession } from '../state/app.ts';
import { sessionTitle } from '../state/list/session-summaries.ts';

const MAX_RECENT_SESSIONS = 5;

/** The latest sessions of the same folder. */
export function RecentSessions() {
  const app = useApp();
  const session = useSession();
  const cwd = useComputed(() => session.view.value.state.cwd).value;
  const recent = (app.sessions.sessions.value ?? [])
    .filter((one) => one.cwd === cwd && one.messageCount > 0 && one.id !== app.sessionId.value)
    .slice(0, MAX_RECENT_SESSIONS);
  if (recent.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="recent">
      <h3 id="recent">Go on in this folder</h3>
      <ul>
        {recent.map((summary) => {
          const { id, lastModified } = summary;
          return (
            <li key={id}>
              <SessionLink id={id}>
                <PlainText text={sessionTitle(summary)} />
              </SessionLink>
              <span class="note">{dateAndTime(lastModified)}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
